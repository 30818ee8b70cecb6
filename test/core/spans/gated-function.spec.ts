import { beforeEach, describe, expect, it } from 'vitest';
import { setEnabledSpanGroups, traceFn } from 'nest-lens/core';
import { captureSpans, type CapturedSpans } from '../../support/capture-spans.js';

type Callable = (...args: unknown[]) => unknown;

let spans: CapturedSpans;
beforeEach(() => {
  spans = captureSpans();
});

/** What a call gave the function: the receiver, and all arguments, those without a parameter too. */
function seen(receiver: unknown, given: ArrayLike<unknown>): unknown[] {
  return [receiver, ...Array.from(given)];
}

/* eslint-disable prefer-rest-params -- a rest parameter has no part in the length */
const methods = {
  of0() {
    return seen(this, arguments);
  },
  of1(_1: unknown) {
    return seen(this, arguments);
  },
  of2(_1: unknown, _2: unknown) {
    return seen(this, arguments);
  },
  of3(_1: unknown, _2: unknown, _3: unknown) {
    return seen(this, arguments);
  },
  of4(_1: unknown, _2: unknown, _3: unknown, _4: unknown) {
    return seen(this, arguments);
  },
  of5(_1: unknown, _2: unknown, _3: unknown, _4: unknown, _5: unknown) {
    return seen(this, arguments);
  },
  ['__proto__'](_1: unknown) {
    return seen(this, arguments);
  },
  [Symbol.iterator]() {
    return seen(this, arguments);
  },
};
function of2Declared(this: unknown, _1: unknown, _2: unknown): unknown {
  return seen(this, arguments);
}
/* eslint-enable prefer-rest-params */

/** A method whose own properties are what they rarely are. */
function methodWith(properties: PropertyDescriptorMap): Callable {
  const { method } = {
    method(this: unknown, _1: unknown, ...rest: unknown[]) {
      return seen(this, [_1, ...rest]);
    },
  };
  return Object.defineProperties(method, properties);
}

function without(...keys: ('name' | 'length')[]): Callable {
  const method = methodWith({});
  for (const key of keys) Reflect.deleteProperty(method, key);
  return method;
}

const fixed = { enumerable: false, configurable: true, writable: false };
const functions: [string, Callable][] = [
  ...Reflect.ownKeys(methods).map((key): [string, Callable] => [
    `the method ${String(key)}`,
    (methods as Record<PropertyKey, unknown>)[key] as Callable,
  ]),
  ['a function that can be called with new', of2Declared],
  ['a bound function', (methods.of5 as Callable).bind({ bound: true }, 1)],
  ['a method without a name', without('name')],
  ['a method without a length', without('length')],
  ['a method with neither', without('name', 'length')],
  ['a method whose name is no text', methodWith({ name: { ...fixed, value: 7 } })],
  ['a method whose name is another', methodWith({ name: { ...fixed, value: 'list orders' } })],
  ['a method whose name is computed', methodWith({ name: { configurable: true, get: () => 'computed' } })],
  ['a method whose length is no number', methodWith({ length: { ...fixed, value: 'concat' } })],
  ['a method whose length is another', methodWith({ length: { ...fixed, value: 3 } })],
  ['a method whose length is no whole number', methodWith({ length: { ...fixed, value: 0.5 } })],
  ['a method with a property', methodWith({ route: { value: '/orders', enumerable: true } })],
  ['a method with a property without a value', methodWith({ route: { value: undefined } })],
  ['a method with a property that all have', methodWith({ call: { value: Function.prototype.call } })],
  ['a method with a property for its name', Object.assign(without('name'), { route: '/orders' })],
  ['a method with a property for its length', Object.assign(without('length'), { 0: '/orders' })],
  [
    'a method with other properties alone',
    Object.assign(without('name', 'length'), { [Symbol('a')]: 1, b: 2 }),
  ],
  [
    'a function of another prototype',
    Object.setPrototypeOf(
      (...args: unknown[]) => seen(0, args),
      Object.create(Function.prototype),
    ) as Callable,
  ],
];

const states: [string, string[]][] = [
  ['off', []],
  ['on', ['orders']],
];

describe.each(states)('a function behind a gate that is %s', (_state, enabled) => {
  beforeEach(() => setEnabledSpanGroups(enabled));

  it.each(functions)('I4: looks like %s', (_kind, original) => {
    const traced = traceFn('orders', 'work')(original);
    expect(traced).not.toBe(original);
    expect([traced.name, traced.length]).toEqual([original.name, original.length]);
    expect(otherProperties(traced)).toEqual(otherProperties(original));
    expect(Object.getPrototypeOf(traced)).toBe(Object.getPrototypeOf(original));
  });

  it.each(functions)('I4: gives a receiver and arguments to %s', (_kind, original) => {
    const receiver = { shop: 1 };
    const args = [1, undefined, null, 'four', {}, 6, 7];
    const traced = traceFn('orders', 'work')(original);
    const [receivedBy, ...received] = traced.apply(receiver, args) as unknown[];
    const [expectedBy, ...expected] = original.apply(receiver, args) as unknown[];
    expect(receivedBy).toBe(expectedBy);
    expect(received).toEqual(expected);
    expect(traced.call(receiver)).toEqual(original.call(receiver));
    expect(spans.names()).toEqual(enabled.length === 0 ? [] : ['work', 'work']);
  });

  it('I4: can be called with new if the function can, and only then', () => {
    // Compiled for an older target, a class is a function.
    function Older(this: { id: number }, id: number): void {
      this.id = id;
    }
    const Traced = traceFn('orders', 'work')(Older) as unknown as new (id: number) => { id: number };
    expect(new Traced(7)).toBeInstanceOf(Older);
    expect(new Traced(7).id).toBe(7);
    const method = traceFn('orders', 'work')(methods.of1) as unknown as new () => unknown;
    expect(() => new method()).toThrow(TypeError);
    expect(Object.hasOwn(method, 'prototype')).toBe(false);
  });

  it.each<[string, (callable: Callable) => void]>([
    ['an apply of its own', (callable) => Object.assign(callable, { apply: () => 'another', call: 1 })],
    ['a class that knows no apply', (callable) => Object.setPrototypeOf(callable, { charge: () => 1 })],
    ['no prototype', (callable) => Object.setPrototypeOf(callable, null)],
  ])('I4, I14: calls a function with %s', (_kind, change) => {
    const original = (...args: unknown[]): unknown[] => args;
    change(original);
    const traced = traceFn('orders', 'work')(original);
    expect(traced(1, 2)).toEqual([1, 2]);
    expect(Object.getPrototypeOf(traced)).toBe(Object.getPrototypeOf(original));
    expect(spans.names()).toEqual(enabled.length === 0 ? [] : ['work']);
  });

  const refuse = (): never => {
    throw new Error('not to be read');
  };
  it.each<[string, (callable: Callable) => Callable]>([
    ['a name', (callable) => Object.defineProperty(callable, 'name', { get: refuse })],
    ['a length', (callable) => Object.defineProperty(callable, 'length', { get: refuse })],
    ['properties', (callable) => new Proxy(callable, { get: refuse })],
  ])('I14: wraps and calls a function with %s that cannot be read', (_what, change) => {
    const traced = traceFn('orders', 'work')(change((...args: unknown[]): unknown[] => args));
    expect(traced(1, 2)).toEqual([1, 2]);
    expect(spans.names()).toEqual(enabled.length === 0 ? [] : ['work']);
  });
});

/** What else a function has: its own properties but for its name, its length, and the object that `new` gives it. */
function otherProperties(of: Callable): [PropertyKey, PropertyDescriptor | undefined][] {
  return Reflect.ownKeys(of)
    .filter((key) => key !== 'name' && key !== 'length')
    .map((key) => [key, Reflect.getOwnPropertyDescriptor(of, key)]);
}
