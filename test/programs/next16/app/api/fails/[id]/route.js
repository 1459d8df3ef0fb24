export async function GET() {
  throw new Error('fails');
}
