/** How many entries a list has at least to count as long. */
const LONG = 500;

/** The methods that go through a list. A `for` loop, a spread and a new `Set` go through its iterator. */
const METHODS = [
  'every',
  'filter',
  'find',
  'findIndex',
  'findLast',
  'flatMap',
  'forEach',
  'map',
  'reduce',
  'some',
  'sort',
  'toSorted',
  Symbol.iterator,
] as const;

/**
 * Counts the entries of long lists that any code goes through, so that a test can show that work does not grow with
 * something, on any machine and beside any other work. A search that ends early counts as the whole list.
 */
export function watchLongLists(): { taken(): number; stop(): void } {
  let entries = 0;
  const originals = METHODS.map((name) => {
    const original = Object.getOwnPropertyDescriptor(Array.prototype, name);
    if (!original) throw new Error(`lists have no ${String(name)}`);
    const counting = function (this: unknown[], ...args: unknown[]) {
      if (this.length >= LONG) entries += this.length;
      return Reflect.apply(original.value, this, args);
    };
    Object.defineProperty(Array.prototype, name, { ...original, value: counting });
    return { name, original };
  });
  return {
    /** The number since the last time. */
    taken() {
      const taken = entries;
      entries = 0;
      return taken;
    },
    stop() {
      for (const { name, original } of originals) Object.defineProperty(Array.prototype, name, original);
    },
  };
}
