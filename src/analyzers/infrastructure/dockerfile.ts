import { commandsOf, weaknessesOf } from './commands.ts';
import type { Weakness } from './found.ts';
import { isSecretName } from './secret-name.ts';

/** What is no secret, whatever its name says: a switch, a place, a time, and words that stand for a value to come. */
const NO_SECRET =
  /^(?:true|false|yes|no|on|off|none|null|\d{1,3}|\d+(?:ms|s|m|h|d)|\.{0,2}\/[\w./-]+|dummy|change-?_?me|placeholder|unused|ignored|build-?_?only)$/i;

/** Finds what the build of an image leaves behind, trusts or grants. Pure. */
export function checkDockerfile(text: string): Weakness[] {
  const found: Weakness[] = [];
  let [user, userLine, starts] = ['', 0, false];
  for (const command of commandsOf(text)) {
    const [, name = '', rest = ''] = /^\s*([A-Za-z]+)\s+(.*)$/.exec(command.code) ?? [];
    const line = command.lineAt(0);
    switch (name.toUpperCase()) {
      case 'FROM':
        user = '';
        starts = false;
        break;
      case 'USER':
        user = rest.trim();
        userLine = line;
        break;
      case 'CMD':
      case 'ENTRYPOINT':
        starts = true;
        break;
      case 'ARG':
      case 'ENV':
        if (namesIn(name, rest).some(isSecretName)) found.push({ rule: 'secret-in-image', line });
        break;
      case 'ADD':
        if (/\shttps?:\/\//.test(` ${rest}`) && !/--checksum=/.test(rest))
          found.push({ rule: 'remote-add', line });
        break;
      case 'RUN':
        found.push(...weaknessesOf(command));
        break;
      default:
    }
  }
  if (starts && /^(?:root|0)(?::|$)/.test(user)) found.push({ rule: 'runs-as-root', line: userLine });
  return found;
}

/** The variables of `ENV A=1 B=2`, `ENV A 1` and `ARG A` that can hold a secret. A value that is itself a variable is set elsewhere. */
function namesIn(instruction: string, rest: string): string[] {
  const pairs = [...rest.matchAll(/(?:^|\s)(\w+)=("[^"]*"|'[^']*'|\S*)/g)];
  if (pairs.length > 0)
    return pairs.flatMap(([, name = '', value = '']) => (canBeSecret(value) ? [name] : []));
  const [, name = '', value = ''] = /^(\w+)\s*(.*)$/.exec(rest.trim()) ?? [];
  return instruction.toUpperCase() === 'ARG' || canBeSecret(value) ? [name] : [];
}

function canBeSecret(value: string): boolean {
  const bare = value.trim().replace(/^(["'])(.*)\1$/, '$2');
  return bare !== '' && !bare.includes('$') && !NO_SECRET.test(bare);
}
