import { canonicalJson, type Json } from '../../../core/canonical.ts';
import { unreachable } from '../../../core/errors.ts';
import { isMapping } from '../../../core/mapping.ts';
import { schemaMismatch } from '../../../domain/artifact/json-schema.ts';
import { compilePattern, MAX_MATCHED_LENGTH } from '../../../domain/rule/pattern.ts';
import type { Assertion } from '../../../domain/skill/assertion.ts';
import {
  lackOfLength,
  lackOfPattern,
  NO_SUCH_MEMBER,
  NOT_THE_SHAPE,
  TOO_LONG_TO_SEARCH,
} from '../../../messages/skills/assertion.ts';

/** UTF-8 bytes per token: close enough for English and code, and independent of the model. */
const BYTES_A_TOKEN = 4;

/** Assertions that need no model. */
export type PlainAssertion = Exclude<Assertion, { kind: 'semantic' }>;

/** The member that `of` names; `undefined` if there is none. */
export function memberAt(value: Json, of: string | undefined): Json | undefined {
  if (of === undefined) return value;
  let at: Json | undefined = value;
  for (const key of of.split('.')) {
    if (Array.isArray(at)) at = /^\d+$/.test(key) ? at[Number(key)] : undefined;
    else at = isMapping(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

/** A string is checked as it is, any other value as its JSON. */
export function asText(value: Json): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

/** Why it fails, as a clause; `undefined` if it holds. */
export function brokenBecause(assertion: PlainAssertion, value: Json): string | undefined {
  const seen = memberAt(value, assertion.of);
  if (seen === undefined) return NO_SUCH_MEMBER;
  switch (assertion.kind) {
    case 'structural': {
      const mismatch = schemaMismatch(assertion.schema, seen);
      return mismatch && `${NOT_THE_SHAPE} (${mismatch})`;
    }
    case 'length':
      return outOfBounds(assertion, asText(seen));
    case 'pattern':
      return unmatched(assertion, asText(seen));
    default:
      return unreachable(assertion);
  }
}

function outOfBounds(assertion: Extract<Assertion, { kind: 'length' }>, text: string): string | undefined {
  const characters = [...text].length;
  const tokens = Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);
  const { min_characters = 0, max_characters = Number.POSITIVE_INFINITY } = assertion;
  const { min_tokens = 0, max_tokens = Number.POSITIVE_INFINITY } = assertion;
  if (characters < min_characters) return lackOfLength(characters, 'at least', min_characters, 'characters');
  if (characters > max_characters) return lackOfLength(characters, 'at most', max_characters, 'characters');
  if (tokens < min_tokens) return lackOfLength(tokens, 'at least', min_tokens, 'tokens');
  if (tokens > max_tokens) return lackOfLength(tokens, 'at most', max_tokens, 'tokens');
  return undefined;
}

/** If a text is too long to search, neither condition is known, so neither holds. */
function unmatched(
  { contains, lacks }: Extract<Assertion, { kind: 'pattern' }>,
  text: string,
): string | undefined {
  if (text.length > MAX_MATCHED_LENGTH) return TOO_LONG_TO_SEARCH;
  if (contains !== undefined && !compilePattern(contains).isFoundIn(text))
    return lackOfPattern('contains', contains);
  if (lacks !== undefined && compilePattern(lacks).isFoundIn(text)) return lackOfPattern('lacks', lacks);
  return undefined;
}
