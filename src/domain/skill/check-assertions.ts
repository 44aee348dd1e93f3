import type { Json } from '../../core/canonical.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { isMapping, memberOf } from '../../core/mapping.ts';
import { schemaDiagnostics } from '../artifact/json-schema.ts';
import type { Path, YamlSource } from '../chain/positions.ts';
import { compilePattern, PatternError } from '../rule/pattern.ts';

const OF_LENGTH = ['min_characters', 'max_characters', 'min_tokens', 'max_tokens'] as const;
const OF_PATTERN = ['contains', 'lacks'] as const;

/** Diagnostics of the assertions in a SKILL.md's `artifacts:`, beyond their shape. */
export function checkAssertions(source: YamlSource, artifacts: Json | undefined): Diagnostic[] {
  if (!isMapping(artifacts)) return [];
  return Object.entries(artifacts).flatMap(([file, metadata]) => {
    const written = memberOf(metadata, 'assert');
    if (!Array.isArray(written)) return [];
    return written.flatMap((one, index) => checkOne(source, ['artifacts', file, 'assert', index], one));
  });
}

function checkOne(source: YamlSource, path: Path, assertion: Json): Diagnostic[] {
  switch (memberOf(assertion, 'kind')) {
    case 'structural': {
      const schema = memberOf(assertion, 'schema');
      if (!isMapping(schema)) return [];
      return schemaDiagnostics(schema).map(({ path: inner, message }) =>
        source.diagnostic([...path, 'schema', ...inner], message),
      );
    }
    case 'length':
      return [...requireOneOf(source, path, assertion, OF_LENGTH), ...checkBounds(source, path, assertion)];
    case 'pattern':
      return [
        ...requireOneOf(source, path, assertion, OF_PATTERN),
        ...OF_PATTERN.flatMap((key) => checkPattern(source, [...path, key], memberOf(assertion, key))),
      ];
    default:
      return [];
  }
}

/** Without any of these keys, the assertion would always hold. */
function requireOneOf(
  source: YamlSource,
  path: Path,
  assertion: Json,
  keys: readonly string[],
): Diagnostic[] {
  if (keys.some((key) => memberOf(assertion, key) !== undefined)) return [];
  return [source.diagnostic(path, `the assertion says nothing: it needs one of ${keys.join(', ')}`)];
}

function checkBounds(source: YamlSource, path: Path, assertion: Json): Diagnostic[] {
  return ['characters', 'tokens'].flatMap((unit) => {
    const [min, max] = [memberOf(assertion, `min_${unit}`), memberOf(assertion, `max_${unit}`)];
    const isCrossed = typeof min === 'number' && typeof max === 'number' && min > max;
    return isCrossed
      ? [source.diagnostic([...path, `max_${unit}`], `the most ${unit} are fewer than the least`)]
      : [];
  });
}

function checkPattern(source: YamlSource, path: Path, pattern: Json | undefined): Diagnostic[] {
  if (typeof pattern !== 'string') return [];
  try {
    compilePattern(pattern);
    return [];
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return [source.diagnostic(path, error.message)];
  }
}
