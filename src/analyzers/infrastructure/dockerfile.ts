import { commandsOf, weaknessesOf } from './commands.ts';
import type { Weakness } from './found.ts';

/** Names that say that a value is secret. A file that holds it is none, nor is a number about it. */
const SECRET_NAME =
  /^(?!.*(?:_FILE|_PATH|_DIR|_URL|_NAME|_LENGTH|_VERSION|_ID)$)(?:\w+_)?(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|SECRET_KEY|PRIVATE_KEY|CREDENTIALS?)$/i;

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
        if (namesIn(name, rest).some((one) => SECRET_NAME.test(one)))
          found.push({ rule: 'secret-in-image', line });
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

/** The variables of `ENV A=1 B=2`, `ENV A 1` and `ARG A`. A value that is itself a variable is set elsewhere. */
function namesIn(instruction: string, rest: string): string[] {
  const pairs = [...rest.matchAll(/(?:^|\s)(\w+)=("[^"]*"|'[^']*'|\S*)/g)];
  if (pairs.length > 0)
    return pairs.flatMap(([, name = '', value = '']) => (/^(?:["']{2})?$|\$/.test(value) ? [] : [name]));
  const [, name = '', value = ''] = /^(\w+)\s*(.*)$/.exec(rest.trim()) ?? [];
  return instruction.toUpperCase() === 'ARG' || (value !== '' && !value.includes('$')) ? [name] : [];
}
