/**
 * A process that takes the sidecar's place and says what a test wants: on its first argument, how it behaves, and on what it hears.
 * The real one would have to be broken for that. It is JavaScript, since thirty of it are started and each would load a compiler first.
 */
const [, , behaviour = ''] = process.argv;
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
let rest = '';

process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) hear(JSON.parse(line));
});
process.stdin.on('end', () => process.exit(0));

function hear(message) {
  const { id } = message;
  // What was asked for a task comes back as its value.
  if (message.kind !== 'request') return say({ kind: 'done', id: asked.get(id) ?? id, value: message });
  switch (message.inputs?.do ?? behaviour) {
    case 'answer':
      return say({ kind: 'done', id, value: process.pid });
    case 'loop':
      for (;;);
    case 'die':
      return process.exit(3);
    case 'nonsense':
      return process.stdout.write('approve!\n');
    case 'wrong':
      return say({ kind: 'approved', id, value: true });
    case 'other':
      return say({ kind: 'ask', id: 1, task: id + 1_000, turns: [{ role: 'user', text: 'x' }] });
    case 'ask':
      return want(id, { kind: 'ask', turns: [{ role: 'user', text: 'What now?' }] });
    case 'endless':
      return process.stdout.write('x'.repeat(5_000_000));
    default:
  }
}

const asked = new Map();
function want(task, wanted) {
  const id = asked.size + 1;
  asked.set(id, task);
  say({ ...wanted, id, task });
}
