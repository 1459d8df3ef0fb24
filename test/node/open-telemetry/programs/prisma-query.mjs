// Asks PostgreSQL by Prisma.

import { trace } from '@opentelemetry/api';
import { PrismaPg } from '@prisma/adapter-pg';
import prisma from '@prisma/client';

const connectionString = 'postgresql://postgres@127.0.0.1:5432/postgres';
const client = new prisma.PrismaClient({ adapter: new PrismaPg({ connectionString }) });
const table = 'tracewright_test_user';
await client.$executeRawUnsafe(
  `CREATE TABLE IF NOT EXISTS ${table} (id int PRIMARY KEY, name text NOT NULL)`,
);
await trace.getTracer('the-service').startActiveSpan('load', async (span) => {
  console.log(`found ${(await client.tracewright_test_user.findMany()).length}`);
  span.end();
});
await client.$executeRawUnsafe(`DROP TABLE ${table}`);
await client.$disconnect();
