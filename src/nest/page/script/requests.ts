/** Script of the page: asks the process, with the visitor's token if guards require one. */
export const REQUESTS_SCRIPT = String.raw`
const base = location.pathname.replace(/\/+$/, '');
const can = { control: 'control' in document.body.dataset, traces: 'traces' in document.body.dataset };
const ACCESS = 'nestlens-access';

class Refusal extends Error {
  constructor(status, body) {
    const message = body && (Array.isArray(body.message) ? body.message.join(' ') : body.message);
    super(message || 'The process answered with status ' + status + '.');
    this.status = status;
    this.body = body;
  }
  get isAccess() {
    return this.status === 401 || this.status === 403;
  }
}

function readAccess() {
  try {
    return JSON.parse(sessionStorage.getItem(ACCESS)) || {};
  } catch {
    return {};
  }
}

/** The token, for this tab only and as long as it is open. */
let access = readAccess();

function useAccess(header, value) {
  const isBare = header.toLowerCase() === 'authorization' && !value.includes(' ');
  access = value === '' ? {} : { [header]: isBare ? 'Bearer ' + value : value };
  try {
    sessionStorage.setItem(ACCESS, JSON.stringify(access));
  } catch {
    // The browser forbids storage here, so the token stays in memory.
  }
}

async function send(path, options) {
  const { headers, ...others } = options || {};
  const response = await fetch(base + path, {
    credentials: 'same-origin',
    cache: 'no-store',
    ...others,
    headers: { accept: 'application/json', ...access, ...headers },
  });
  if (response.ok) return response;
  throw new Refusal(response.status, await response.json().catch(() => undefined));
}

async function ask(path, options) {
  const response = await send(path, options);
  const date = Date.parse(response.headers.get('date'));
  // The header has whole seconds, so a small difference doesn't count.
  if (Math.abs(date - Date.now()) > 2000) clockOffset = date - Date.now();
  return response.json();
}

/** How far the clock of the process is ahead of the browser's, in milliseconds. */
let clockOffset = 0;

function sendJson(method, path, body, options) {
  const headers = { 'content-type': 'application/json', ...(options && options.headers) };
  return send(path, { ...options, method, headers, body: JSON.stringify(body) });
}

/** Server-sent events of a request that can have a body and headers, which EventSource can't. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer = (buffer + value).replace(/\r\n/g, '\n');
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const lines = buffer.slice(0, end).split('\n');
      buffer = buffer.slice(end + 2);
      const field = (name) => lines.filter((line) => line.startsWith(name + ':')).map((line) => line.slice(name.length + 1).trim()).join('\n');
      if (field('data') !== '') yield { event: field('event') || 'message', data: JSON.parse(field('data')) };
    }
  }
}
`;
