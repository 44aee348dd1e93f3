import type { z } from 'zod';
import { notAllowed } from '../../core/diagnostic.ts';
import type { Reference } from './reference.ts';

type Path = Reference['path'];

/** Where a path leaves its schema: the depth of the word, and the members that are there instead. */
interface Missing {
  depth: number;
  members: readonly string[];
}

/**
 * Why no value of the schema has the path, or `undefined` if one can have it. Without this diagnostic, a
 * misspelled member would silently be missing in every run.
 * @param above the name of the value, such as `outcome`
 * @param nothing the sentence about a member that the value itself does not have
 */
export function noSuchMember(
  above: string,
  schema: z.core.$ZodType,
  path: Path,
  nothing = (word: string) => `"${above}" has no "${word}"`,
): string | undefined {
  const missing = missingAt(schema, path, 0);
  if (!missing) return undefined;
  const { depth, members } = missing;
  const word = String(path[depth]);
  if (depth === 0) return notAllowed(nothing(word), members, word);
  const owner = path.slice(0, depth).reduce<string>(joined, above);
  return members.length === 0
    ? `"${owner}" has no members`
    : notAllowed(`"${owner}" has no "${word}"`, members, word);
}

function joined(path: string, key: string | number): string {
  return typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`;
}

/** The parts of zod's definitions that are read here. */
interface Definition {
  type: string;
  shape?: Readonly<Record<string, z.core.$ZodType>>;
  catchall?: z.core.$ZodType;
  element?: z.core.$ZodType;
  options?: readonly z.core.$ZodType[];
  innerType?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
}

function missingAt(schema: z.core.$ZodType | undefined, path: Path, depth: number): Missing | undefined {
  const key = path[depth];
  if (schema === undefined || key === undefined) return undefined;
  const {
    type,
    shape = {},
    catchall,
    element,
    options = [],
    innerType,
    valueType,
  } = schema._zod.def as Definition;
  switch (type) {
    case 'object':
      if (Object.hasOwn(shape, key)) return missingAt(shape[key], path, depth + 1);
      return catchall === undefined || catchall._zod.def.type === 'never'
        ? { depth, members: Object.keys(shape) }
        : undefined;
    case 'array':
      if (typeof key === 'number') return missingAt(element, path, depth + 1);
      if (key !== 'length') return { depth, members: ['length'] };
      return path.length > depth + 1 ? { depth: depth + 1, members: [] } : undefined;
    case 'union': {
      const each = options.map((option) => missingAt(option, path, depth));
      const missing = each.filter((one) => one !== undefined);
      if (missing.length < each.length) return undefined;
      const deepest = Math.max(...missing.map((one) => one.depth));
      const members = missing.flatMap((one) => (one.depth === deepest ? one.members : []));
      return { depth: deepest, members: [...new Set(members)] };
    }
    case 'nullable':
    case 'optional':
    case 'default':
    case 'readonly':
      return missingAt(innerType, path, depth);
    case 'record':
      return missingAt(valueType, path, depth + 1);
    case 'string':
    case 'number':
    case 'boolean':
    case 'enum':
    case 'literal':
    case 'null':
      return { depth, members: [] };
    default:
      return undefined;
  }
}
