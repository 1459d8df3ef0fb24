import { connect } from 'node:net';
import { describe, it } from 'vitest';

/** The servers of the tests, at their standard addresses. */
const PORTS = { PostgreSQL: 5432, MariaDB: 3306, Redis: 6379, RabbitMQ: 5672, NATS: 4222 };

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.setTimeout(2000, () => {
      end(false);
    });
    socket.once('connect', () => {
      end(true);
    });
    socket.once('error', () => {
      end(false);
    });
  });
}

/**
 * Tests that need servers. Without them they are skipped, or fail with `TRACEWRIGHT_TEST_SERVERS=required`.
 */
export async function describeWith(
  servers: readonly (keyof typeof PORTS)[],
  name: string,
  tests: () => void,
): Promise<void> {
  const absent: string[] = [];
  for (const server of servers) {
    const port = PORTS[server];
    if (!(await answers(port))) absent.push(`no ${server} answers at 127.0.0.1:${port}`);
  }
  const reason = absent.join(', ');
  if (reason === '') {
    describe(name, tests);
  } else if (process.env['TRACEWRIGHT_TEST_SERVERS'] === 'required') {
    it(name, () => {
      throw new Error(reason);
    });
  } else {
    it.skip(`${name}: ${reason}`, () => undefined);
  }
}
