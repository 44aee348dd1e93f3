import { distance } from 'fastest-levenshtein';

/** Shorter names are similar to too many others. */
const SHORTEST = 5;

/**
 * The known package that a new name could be mistaken for: one letter added, removed, replaced or swapped, or
 * a different hyphen. Packages in one scope have one owner, so they are not compared.
 */
export function similarName(name: string, known: readonly string[]): string | undefined {
  return known.find((other) => other !== name && isSimilar(name, other));
}

function isSimilar(one: string, other: string): boolean {
  const [a, b] = [parts(one), parts(other)];
  if (a.scope !== b.scope)
    return a.name === b.name && a.scope !== '' && b.scope !== '' && isTypo(a.scope, b.scope);
  return a.scope === '' && isTypo(a.name, b.name);
}

function parts(name: string): { scope: string; name: string } {
  const slash = name.indexOf('/');
  return slash < 0 ? { scope: '', name } : { scope: name.slice(0, slash), name: name.slice(slash + 1) };
}

function isTypo(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < SHORTEST || Math.abs(a.length - b.length) > 2) return false;
  const bare = (text: string) => text.replace(/[-_.]/g, '');
  return bare(a) === bare(b) || isSwap(a, b) || distance(a, b) === 1;
}

function isSwap(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const differ = [...a].flatMap((letter, index) => (letter === b[index] ? [] : [index]));
  const [i = 0, j = 0] = differ;
  return differ.length === 2 && j === i + 1 && a[i] === b[j] && a[j] === b[i];
}
