/** Words that name a secret. They redact texts and numbers, as do longer words that end in one of `SECRET_ENDINGS`. */
export const SECRET_WORDS = [
  ...['password', 'passwd', 'pwd', 'passphrase', 'passcode', 'passwordhash', 'passwordsalt'],
  ...['dbpass', 'pgpass', 'smtppass', 'userpass'],
  ...['pin', 'otp', 'totp', 'cvv', 'cvc', 'mnemonic'],
  ...['pincode', 'otpcode', 'authcode', 'authorizationcode', 'mfacode', 'recoverycode', 'verificationcode'],
  ...[
    'secret',
    'token',
    'jwt',
    'bearer',
    'csrf',
    'xsrf',
    'authorization',
    'cookie',
    'sid',
    'credential',
    'cred',
  ],
  ...['connectionstring', 'dsn', 'databaseurl'],
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
  ...['privatekeypem', 'jwk'],
  ...['prompt', 'input_text', 'output_text', 'text'],
];

/** Ends of words that people write without a break: `dbpassword`, `accesstoken`. Harmless words don't end like this. */
export const SECRET_ENDINGS = [
  ...['password', 'passwd', 'pwd', 'passphrase', 'secret', 'token', 'cookie', 'credential'],
  ...['apikey', 'accesskey', 'privatekey', 'secretkey'],
];

/** Words that mostly mean something harmless if the value isn't a text. They, and all plurals, redact texts only. */
export const SECRET_WORDS_OF_TEXTS = ['auth', 'pass'];

/** Words for the form of a secret, such as `hash`. The word before them decides. Their plurals do so for texts only. */
export const FORM_WORDS = [
  ...['hash', 'hashed', 'digest', 'salt', 'encrypted', 'encoded', 'base64', 'hex', 'pem', 'raw', 'plain'],
  ...['md5', 'sha1', 'sha256', 'sha512', 'bcrypt', 'scrypt', 'argon2'],
  ...['value', 'header', 'string', 'binary'],
  ...['old', 'new', 'again', 'verify', 'confirm', 'confirmation', 'repeat'],
];

/** Before `key` or `keys`, these words say that the key finds or sorts something and opens nothing. */
export const HARMLESS_BEFORE_KEY = [
  ...['primary', 'foreign', 'partition', 'row', 'sort', 'cache', 'object', 's3', 'i18n'],
  ...['routing', 'message', 'idempotency', 'public'],
];

/** The types of values, or of the items of lists, that a key redacts. */
export type Redaction = readonly ('string' | 'number' | 'boolean')[];

const NOTHING: Redaction = [];
const TEXTS: Redaction = ['string'];
/** A boolean says that a secret exists (`hasPassword`), and is no secret. */
const TEXTS_AND_NUMBERS: Redaction = ['string', 'number'];
/** For words that the application gave, which may name any fact: `is_pregnant`. */
const EVERYTHING: Redaction = ['string', 'number', 'boolean'];

/** Every character that is no letter, accent or digit of any script. */
const SEPARATORS = /[^\p{L}\p{M}\p{N}]+/u;

/** At most this many words at the end of a key are joined. A key as long as a sentence names no secret. */
const MAX_WORDS_JOINED = 8;
const MAX_CACHED = 1_000;

interface SecretWords {
  readonly words: ReadonlySet<string>;
  /** What `words` redact. */
  readonly redaction: Redaction;
  readonly ofTexts: ReadonlySet<string>;
  readonly endings: readonly string[];
  readonly harmlessBeforeKey: ReadonlySet<string>;
}

const DEFAULT_WORDS: SecretWords = {
  words: new Set(SECRET_WORDS.map(joined)),
  redaction: TEXTS_AND_NUMBERS,
  ofTexts: new Set(SECRET_WORDS_OF_TEXTS),
  endings: SECRET_ENDINGS,
  harmlessBeforeKey: new Set(HARMLESS_BEFORE_KEY),
};
const formWords = new Set(FORM_WORDS);
const formPlurals = new Set(FORM_WORDS.map((word) => word + (word.endsWith('sh') ? 'es' : 's')));

/** Splits a key at changes of case and at everything that is no letter or digit; lower case. */
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

/** Looks at the last words of a key, joined: `pass_word`, `PassWord` and `password` are the same. */
function redactionOfWords(words: readonly string[], secrets: SecretWords): Redaction {
  if (isHarmlessKey(words, secrets)) return NOTHING;
  let last = '';
  for (const word of words.slice(-MAX_WORDS_JOINED).reverse()) {
    last = word + last;
    const redaction = redactionOfWord(last, secrets);
    if (redaction !== NOTHING) return redaction;
  }
  return NOTHING;
}

function isHarmlessKey(words: readonly string[], { harmlessBeforeKey }: SecretWords): boolean {
  return /^keys?\d*$/.test(words.at(-1) ?? '') && harmlessBeforeKey.has(words.at(-2) ?? '');
}

function redactionOfWord(word: string, { words, redaction, ofTexts, endings }: SecretWords): Redaction {
  const bare = word.replace(/\d+$/, ''); // password2
  const isSecret = (name: string): boolean =>
    words.has(name) || endings.some((ending) => name.endsWith(ending));
  if (words.has(word) || isSecret(bare)) return redaction;
  return ofTexts.has(bare) || (bare.endsWith('s') && isSecret(bare.slice(0, -1))) ? TEXTS : NOTHING;
}

function decide(key: string, secrets: SecretWords): Redaction {
  const words = wordsOf(key);
  const redaction = redactionOfWords(words, secrets);
  if (redaction !== NOTHING) return redaction;
  const isForm = (word: string): boolean =>
    formWords.has(word) || formPlurals.has(word) || /^\d+$/.test(word);
  const named = words.findLastIndex((word) => !isForm(word)) + 1;
  if (named === words.length) return NOTHING;
  const ofNamed = redactionOfWords(words.slice(0, named), secrets);
  return ofNamed !== NOTHING && words.slice(named).some((word) => formPlurals.has(word)) ? TEXTS : ofNamed;
}

const cached = new Map<string, Redaction>();

/** The values that a key redacts by default. */
export function defaultRedaction(key: string): Redaction {
  let redaction = cached.get(key);
  if (redaction === undefined) {
    if (cached.size >= MAX_CACHED) cached.clear();
    redaction = decide(key, DEFAULT_WORDS);
    cached.set(key, redaction);
  }
  return redaction;
}

/** The values that a key redacts by words that the application gave. */
export function redactionBy(redactKeys: Iterable<unknown>): (key: string) => Redaction {
  const words = new Set([...redactKeys].map((word) => joined(String(word))));
  words.delete('');
  const none = new Set<string>();
  const given = { words, redaction: EVERYTHING, ofTexts: none, endings: [], harmlessBeforeKey: none };
  return (key) => decide(key, given);
}
