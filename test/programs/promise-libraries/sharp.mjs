// The addon of sharp calls back, and has images as streams: what follows is below its caller.
import sharp from 'sharp';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own buffer 1
  own data 1
  own end 1
  own info 1
  own metadata 1
  own streamed 1
own request 2
  own buffer 2
  own data 2
  own end 2
  own info 2
  own metadata 2
  own streamed 2
`;
export const difference = 'OpenTelemetry has callbacks below nobody. Each is its caller’s.';

export async function run() {
  const image = () =>
    sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } }).png();
  const request = (n) =>
    own(`request ${n}`, async () => {
      const png = await new Promise((resolve) => {
        image().toBuffer((_, data) => {
          own(`buffer ${n}`);
          resolve(data);
        });
      });
      await new Promise((resolve) => {
        sharp(png).metadata(() => {
          own(`metadata ${n}`);
          resolve();
        });
      });
      await new Promise((resolve) => {
        image()
          .on('info', () => own(`info ${n}`))
          .on('data', () => own(`data ${n}`))
          .on('end', () => {
            own(`end ${n}`);
            resolve();
          });
      });
      const piped = sharp().png();
      const streamed = new Promise((resolve) => {
        piped.toBuffer(() => {
          own(`streamed ${n}`);
          resolve();
        });
      });
      piped.end(png);
      await streamed;
    });
  await Promise.all([request(1), request(2)]);
}
