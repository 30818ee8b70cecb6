/** Words that name a secret. They, and a longer word that ends in one of `SECRET_ENDINGS`, redact values of every kind. */
export const SECRET_WORDS = [
  ...[
    'password',
    'passwd',
    'pwd',
    'passphrase',
    'passcode',
    'passwordhash',
    'passwordsalt',
    'pin',
    'otp',
    'totp',
  ],
  ...[
    'secret',
    'token',
    'jwt',
    'bearer',
    'csrf',
    'xsrf',
    'authorization',
    'cookie',
    'credential',
    'cred',
    'cvv',
    'cvc',
  ],
  ...[
    'key',
    'apikey',
    'accesskey',
    'authkey',
    'encryptionkey',
    'privatekey',
    'secretkey',
    'signingkey',
    'sshkey',
  ],
  ...['prompt', 'input_text', 'output_text', 'text'],
];

/** Ends of words that people write without a break: `dbpassword`, `accesstoken`. No other words end so. */
export const SECRET_ENDINGS = ['password', 'passwd', 'passphrase', 'secret', 'token', 'cookie', 'credential'];

/** Words that mostly say something else where the value isn't text. They, and all plurals, redact strings only. */
export const SECRET_WORDS_OF_STRINGS = ['auth', 'pass'];

/** Words that say in what form the word before them is; that one then decides. */
export const FORM_WORDS = [
  ...['hash', 'hashed', 'digest', 'salt', 'encrypted', 'encoded', 'base64', 'hex', 'pem', 'raw', 'plain'],
  ...['value', 'header', 'confirm', 'confirmation', 'repeat'],
];

/** Which values a key redacts. */
export type Redaction = 'every value' | 'strings' | 'nothing';

/** Blanks, and the signs of ASCII. */
const SEPARATORS = /[\s!-/:-@[-`{-~]+/;

/** Of a key, from its end: a word list such as a whole sentence names no secret. */
const MAX_WORDS_JOINED = 8;
const MAX_CACHED = 1_000;

interface SecretWords {
  readonly always: ReadonlySet<string>;
  readonly ofStrings: ReadonlySet<string>;
  readonly endings: readonly string[];
}

const DEFAULT_WORDS: SecretWords = {
  always: new Set(SECRET_WORDS.map(joined)),
  ofStrings: new Set(SECRET_WORDS_OF_STRINGS),
  endings: SECRET_ENDINGS,
};
const formWords = new Set(FORM_WORDS);

/** Split at case changes and at everything that is no letter or digit; in lower case. */
function wordsOf(key: string): string[] {
  return key
    .replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2 ')
    .toLowerCase()
    .split(SEPARATORS)
    .filter((word) => word !== '');
}

function joined(key: string): string {
  return wordsOf(key).join('');
}

/** By the last words of a key, written together: `pass_word`, `PassWord` and `password` are the same. */
function redactionOfWords(words: readonly string[], secrets: SecretWords): Redaction {
  let last = '';
  for (const word of words.slice(-MAX_WORDS_JOINED).reverse()) {
    last = word + last;
    const redaction = redactionOfWord(last, secrets);
    if (redaction !== 'nothing') return redaction;
  }
  return 'nothing';
}

function redactionOfWord(word: string, { always, ofStrings, endings }: SecretWords): Redaction {
  if (always.has(word)) return 'every value';
  const bare = word.replace(/\d+$/, ''); // password2
  const isSecret = (name: string): boolean =>
    always.has(name) || endings.some((ending) => name.endsWith(ending));
  if (isSecret(bare)) return 'every value';
  return ofStrings.has(bare) || (bare.endsWith('s') && isSecret(bare.slice(0, -1))) ? 'strings' : 'nothing';
}

function decide(key: string, secrets: SecretWords): Redaction {
  const words = wordsOf(key);
  const redaction = redactionOfWords(words, secrets);
  if (redaction !== 'nothing') return redaction;
  const named = words.findLastIndex((word) => !formWords.has(word) && !/^\d+$/.test(word)) + 1;
  return named === words.length ? 'nothing' : redactionOfWords(words.slice(0, named), secrets);
}

const cached = new Map<string, Redaction>();

/** Which values a key redacts, by the words that stand for secrets by default. */
export function defaultRedaction(key: string): Redaction {
  let redaction = cached.get(key);
  if (redaction === undefined) {
    if (cached.size >= MAX_CACHED) cached.clear();
    redaction = decide(key, DEFAULT_WORDS);
    cached.set(key, redaction);
  }
  return redaction;
}

/** The same by a set of words that an application has given. */
export function redactionBy(redactKeys: Iterable<unknown>): (key: string) => Redaction {
  const always = new Set([...redactKeys].map((word) => joined(String(word))));
  always.delete('');
  return (key) => decide(key, { always, ofStrings: new Set(), endings: [] });
}
