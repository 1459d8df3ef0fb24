export async function GET(_, { params }) {
  const { id } = await params;
  globalThis.own?.(`order ${id}`);
  return Response.json({ id });
}

export async function POST(request) {
  const { pieces } = await request.json();
  globalThis.own?.(`ordered ${pieces}`);
  await fetch(`${process.env.UPSTREAM}/stock`, { method: 'POST', body: '{}' });
  return Response.json({}, { status: 201 });
}
