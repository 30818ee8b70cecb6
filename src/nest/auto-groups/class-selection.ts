import { nearestName } from '../../core/groups/nearest-name.js';
import { classNameOf } from '../span-group/class-name.js';

/** A part of a selection that matched no class. */
export interface UnmatchedTarget {
  readonly name: string;
  /** The class that it probably means. */
  readonly nearest: string | undefined;
}

/** A list of classes and names of classes that remembers which of its parts have matched. */
export class ClassSelection {
  private readonly unmatched: Set<unknown>;

  /** @param targets classes, and names */
  constructor(private readonly targets: ReadonlySet<unknown>) {
    this.unmatched = new Set(targets);
  }

  has(Class: object): boolean {
    if (this.targets.size === 0) return false;
    const name = classNameOf(Class);
    this.unmatched.delete(Class);
    this.unmatched.delete(name);
    return this.targets.has(Class) || this.targets.has(name);
  }

  /** @param all gives all classes of the application */
  missed(all: () => ReadonlySet<object>): UnmatchedTarget[] {
    if (this.unmatched.size === 0) return [];
    const classes = all();
    for (const Class of classes) this.has(Class);
    if (this.unmatched.size === 0) return [];
    const names = new Set([...classes].map(classNameOf));
    return [...this.unmatched].map((target) => {
      const name = typeof target === 'string' ? target : classNameOf(target as object);
      return { name, nearest: nearestClass(name, names) };
    });
  }
}

/** A name that differs only in case counts as near, because it can't mean another class. */
function nearestClass(name: string, names: ReadonlySet<string>): string | undefined {
  const lower = name.toLowerCase();
  return [...names].find((other) => other.toLowerCase() === lower) ?? nearestName(name, names);
}
