import { PrismaPg } from '@prisma/adapter-pg';
import prisma from '@prisma/client';

const TABLE = 'programs_user';

/** A client on a schema of its own, with a table of three users. @returns it, and how all that is closed. */
export async function openPrisma() {
  const schema = `programs_${process.pid}`;
  const connectionString = 'postgresql://postgres@127.0.0.1:5432/test';
  const adapter = new PrismaPg({ connectionString, max: 2 }, { schema });
  const client = new prisma.PrismaClient({ adapter });
  await client.$executeRawUnsafe(`CREATE SCHEMA ${schema}`);
  await client.$executeRawUnsafe(`CREATE TABLE ${schema}.${TABLE} (id int PRIMARY KEY, name text)`);
  await client.$executeRawUnsafe(
    `INSERT INTO ${schema}.${TABLE} VALUES (1, 'ada'), (2, 'bob'), (3, 'cyd')`,
  );
  return {
    users: client[TABLE],
    client,
    async close() {
      await client.$executeRawUnsafe(`DROP SCHEMA ${schema} CASCADE`);
      await client.$disconnect();
    },
  };
}
