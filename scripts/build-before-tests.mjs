// The global set-up of the tests. Some tests load the built package, so dist has to be there and up to date.
import { build } from './build.mjs';

export default async function buildBeforeTests() {
  const errors = await build({ onlyIfStale: true });
  // Type errors fail `npm run types` and `npm run build`. Here they must not hide what the tests would have said.
  if (errors) process.stderr.write(`The compiler reports errors; dist was built all the same.\n${errors}`);
}
