/** Nest's `mixin()` gives a class such a name at random, another one in each process. */
const NAME_OF_MIXIN = /^[0-9a-f]{21}$/;
/** Control characters, and code points that stand for no character. */
const UNPRINTABLE = /\p{C}/u;
/** The name after `class` or `function` in the source text. */
const DECLARED_NAME = /^(?:class|function)\s+(?!extends\b)([\p{ID_Start}$_][\p{ID_Continue}$]*)/u;

const kept = new WeakMap<object, string>();

/** Keeps the name that a class has while it is decorated: `mixin()` comes later and replaces it. */
export function keepClassName(Class: object): void {
  if (!kept.has(Class)) kept.set(Class, readClassName(Class));
}

/** The name of a class in spans and sites: that of its declaration, where its `name` can't be shown. Never throws. */
export function classNameOf(Class: object): string {
  return kept.get(Class) ?? readClassName(Class);
}

function readClassName(Class: object): string {
  try {
    const { name } = Class as { name?: unknown }; // any static member may be called `name`
    const isShown = typeof name === 'string' && name.trim() !== '' && !UNPRINTABLE.test(name);
    if (isShown && !NAME_OF_MIXIN.test(name)) return name;
  } catch {
    // A static getter that throws.
  }
  return declaredName(Class) ?? 'anonymous';
}

function declaredName(Class: object): string | undefined {
  try {
    return DECLARED_NAME.exec(Function.prototype.toString.call(Class))?.[1];
  } catch {
    return undefined; // not a function at all
  }
}
