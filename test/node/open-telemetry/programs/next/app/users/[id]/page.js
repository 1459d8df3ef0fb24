import { createElement } from 'react';

export const dynamic = 'force-dynamic';

export default async function Page({ params }) {
  const { id } = await params;
  const answer = await fetch(`${process.env.UPSTREAM}/upstream`, { cache: 'no-store' });
  return createElement('p', null, `user ${id}: ${await answer.text()}`);
}
