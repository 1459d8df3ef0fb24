import { createElement } from 'react';

export const dynamic = 'force-dynamic';

export default async function Page({ params }) {
  const { id } = await params;
  const answer = await fetch(`${process.env.UPSTREAM}/user`, { cache: 'no-store' });
  globalThis.own?.(`page of ${id}`);
  return createElement('p', null, await answer.text());
}
