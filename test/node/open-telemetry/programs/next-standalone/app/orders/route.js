import pg from 'pg';

export const dynamic = 'force-dynamic';

const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'postgres' });

export async function GET() {
  const { rows } = await pool.query('SELECT 7 AS id');
  return globalThis.Response.json(rows);
}
