export async function getServerSideProps() {
  throw new Error('fails');
}

export default function Never() {
  return null;
}
