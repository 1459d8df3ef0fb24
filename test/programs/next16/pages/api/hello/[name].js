export default async function handler({ query }, response) {
  await new Promise((resolve) => setTimeout(resolve, 2));
  globalThis.own?.(`hello ${query.name}`);
  response.status(200).json({});
}
