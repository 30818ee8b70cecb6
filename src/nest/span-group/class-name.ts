/** Nest's `mixin()` gives a class such a random name, which differs in each process. */
const NAME_OF_MIXIN = /^[0-9a-f]{21}$/;
/** Control characters, and code points without a character. */
const UNPRINTABLE = /\p{C}/u;
/** The name after `class` or `function` in the source text. */
const DECLARED_NAME = /^(?:class|function)\s+(?!extends\b)([\p{ID_Start}$_][\p{ID_Continue}$]*)/u;

const kept = new WeakMap<object, string>();

/** Keeps the name of a class from the time of its decoration, because `mixin()` replaces it later. */
export function keepClassName(Class: object): void {
  if (!kept.has(Class)) kept.set(Class, readClassName(Class));
}

/** The name of a class in spans and sites. If its `name` can't be shown, it is the name of its declaration. Never throws. */
export function classNameOf(Class: object): string {
  return kept.get(Class) ?? readClassName(Class);
}

function readClassName(Class: object): string {
  try {
    const { name } = Class as { name?: unknown }; // A class may have a static member `name` of any type.
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
