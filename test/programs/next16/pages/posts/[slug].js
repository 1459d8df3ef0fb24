export async function getServerSideProps({ params }) {
  globalThis.own?.(`post ${params.slug}`);
  return { props: params };
}

export default function Post({ slug }) {
  return slug;
}
