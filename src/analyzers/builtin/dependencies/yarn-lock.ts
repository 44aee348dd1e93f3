import type { Entry, Lock } from './entry.ts';
import { membersOf, textAt } from './json-lines.ts';
import { parseYamlWithLines } from './yaml-lines.ts';

/**
 * Reads `yarn.lock`: the format of yarn 1, and the YAML of later versions.
 * @throws SyntaxError for any other text
 */
export function readYarnLock(text: string): Lock {
  return /^__metadata:/m.test(text) ? berry(text) : classic(text);
}

const HEAD = /^(?! )(?:"[^"]+"|[^\s"#][^",]*)(?:, (?:"[^"]+"|[^\s"#][^",]*))*:$/;
const FIELD =
  /^ {2}(version|resolved|integrity|dependencies|optionalDependencies):?(?: (?:"([^"]*)"|(\S+)))?$/;
const DEEPER = /^ {4}(?:"[^"]+"|\S+) (?:"[^"]*"|\S+)$/;

function classic(text: string): Lock {
  const entries: Entry[] = [];
  let current: Entry | undefined;
  for (const [index, written] of text.split('\n').entries()) {
    const line = written.replace(/\r$/, '');
    if (line.trim() === '' || line.startsWith('#')) continue;
    if (HEAD.test(line)) {
      const key = line.slice(0, -1);
      current = { key, name: nameIn(key), version: '', line: index + 1, endLine: index + 1 };
      entries.push(current);
      continue;
    }
    const field = FIELD.exec(line);
    if (!current || !(field || DEEPER.test(line))) {
      throw new SyntaxError(`line ${index + 1}: this is not how yarn writes its lock file`);
    }
    current.endLine = index + 1;
    const value = field?.[2] ?? field?.[3];
    if (field?.[1] === 'version') current.version = value ?? '';
    if (field?.[1] === 'resolved') current.resolved = value;
    if (field?.[1] === 'integrity') current.integrity = value;
  }
  return {
    entries,
    hasIntegrity: entries.some(({ integrity }) => integrity !== undefined),
    asked: new Map(),
  };
}

/** `"@a/b@^1.0.0", "@a/b@^1.1.0"` → `@a/b`; for an alias such as `x@npm:@a/b@^1`, the package behind it. */
function nameIn(key: string): string {
  const [first = ''] = key.replaceAll('"', '').split(', ');
  const alias = /@npm:((?:@[^/]+\/)?[^@]+)(?:@|$)/.exec(first)?.[1];
  return alias ?? /^(@?[^@]+)@/.exec(first)?.[1] ?? first;
}

function berry(text: string): Lock {
  const entries = [...membersOf(parseYamlWithLines(text))].flatMap(([key, node]): Entry[] => {
    if (key === '__metadata') return [];
    const resolution = textAt(node, 'resolution') ?? '';
    const [, name = '', source = ''] = /^(@?[^@]+)@(.*)$/s.exec(resolution) ?? [];
    return [
      {
        key,
        name,
        version: textAt(node, 'version') ?? '',
        // A package of the default registry has no address.
        resolved: /^npm:[^:]*$/.test(source) ? undefined : source,
        integrity: textAt(node, 'checksum'),
        local: /^(?:workspace|link|portal|patch|file):/.test(source),
        line: node.line,
        endLine: node.endLine,
      },
    ];
  });
  return {
    entries,
    hasIntegrity: entries.some(({ integrity }) => integrity !== undefined),
    asked: new Map(),
  };
}
