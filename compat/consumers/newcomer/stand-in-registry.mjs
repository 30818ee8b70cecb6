import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

/**
 * A registry on this machine that has one package more than the real one, where every other request is sent: so `npm i nest-lens`
 * and `nest add nest-lens` install what was packed, by the very commands that users type.
 *
 * @param {{ tarball: string, manifest: Record<string, unknown>, upstream: string }} options `manifest`: the package.json in the
 *   tarball; `upstream`: the address of the real registry
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function startStandInRegistry({ tarball, manifest, upstream }) {
  const bytes = await readFile(tarball);
  const { name, version } = manifest;
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path.split('?')[0] === `/${name}`) {
      const dist = {
        tarball: `http://${request.headers.host}/${name}/-/${name}-${version}.tgz`,
        integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
      };
      const document = {
        name,
        'dist-tags': { latest: version },
        versions: { [version]: { ...manifest, dist } },
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
    } else if (path === `/${name}/-/${name}-${version}.tgz`) {
      response.end(bytes);
    } else {
      response.writeHead(302, { location: new URL(path.slice(1), upstream).href }).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
