import { type JsonNode, memberAt, membersOf, parseJsonWithLines } from './json-lines.ts';

export const DEPENDENCY_KEYS = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;
const ALL_KEYS = [...DEPENDENCY_KEYS, 'peerDependencies'] as const;
/** npm runs these when it installs the package or the repository. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare'];

export interface Requested {
  name: string;
  /** A range of versions, or the source of the package. */
  range: string;
  peer: boolean;
  line: number;
}

export interface Manifest {
  asked: Requested[];
  /** The scripts that run at installation, by name. */
  scripts: ReadonlyMap<string, { command: string; line: number }>;
}

/**
 * Reads what a `package.json` requests.
 * @throws SyntaxError
 */
export function readManifest(text: string): Manifest {
  const root = parseJsonWithLines(text);
  return {
    asked: ALL_KEYS.flatMap((key) =>
      [...membersOf(memberAt(root, key))].map(([name, node]) => ({
        name,
        range: plain(node),
        peer: key === 'peerDependencies',
        line: node.line,
      })),
    ),
    scripts: new Map(
      [...membersOf(memberAt(root, 'scripts'))]
        .filter(([name]) => INSTALL_SCRIPTS.includes(name))
        .map(([name, node]) => [name, { command: plain(node), line: node.line }]),
    ),
  };
}

function plain(node: JsonNode): string {
  return node.kind === 'value' ? String(node.value) : '';
}
