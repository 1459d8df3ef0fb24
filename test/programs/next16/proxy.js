import { NextResponse } from 'next/server';

export const config = { matcher: ['/guarded/:path*', '/elsewhere/:path*', '/api/orders/:path*'] };

export function proxy(request) {
  const { pathname } = request.nextUrl;
  globalThis.own?.('proxy');
  if (pathname.startsWith('/guarded')) return new NextResponse('no', { status: 403 });
  if (pathname.startsWith('/elsewhere')) {
    return NextResponse.rewrite(new URL(pathname, process.env.UPSTREAM));
  }
  return NextResponse.next();
}
