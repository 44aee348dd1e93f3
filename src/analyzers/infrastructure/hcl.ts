/** A block of Terraform, such as a resource: its attributes and the blocks in it. Lines count from 1. */
export interface Block {
  /** `resource`, `ingress`; empty for the file. */
  type: string;
  labels: readonly string[];
  line: number;
  attributes: Attribute[];
  blocks: Block[];
}

export interface Attribute {
  name: string;
  /** As it is written, over all its lines. */
  value: string;
  line: number;
}

/** In characters. The rest of a longer line is not read: patterns would need long for it. */
const MAX_LINE = 2_000;

/**
 * Reads Terraform by its lines. It knows what one needs to find attributes: blocks, lists and objects over several lines, comments and
 * here-documents; it evaluates nothing. Text that is not Terraform gives no blocks. Pure.
 */
export function readHcl(text: string): Block {
  const file: Block = { type: '', labels: [], line: 1, attributes: [], blocks: [] };
  const open: Block[] = [file];
  const lines = text.split('\n');
  let isComment = false;
  for (let index = 0; index < lines.length; index++) {
    const number = index + 1;
    const inside = open.at(-1) ?? file;
    let line = (lines[index] ?? '').slice(0, MAX_LINE);
    if (isComment) {
      if (!line.includes('*/')) continue;
      line = line.slice(line.indexOf('*/') + 2);
      isComment = false;
    }
    line = withoutComment(line);
    if (/^\s*\/\*/.test(line)) {
      isComment = !line.includes('*/');
      continue;
    }
    const assigned = /^\s*"?([\w-]+)"?\s*=(?![=>])\s*(.*)$/.exec(line);
    if (assigned) {
      const [, name = '', start = ''] = assigned;
      const parts = [start];
      const here = /<<-?\s*(\w+)\s*$/.exec(start);
      if (here)
        while (++index < lines.length && lines[index]?.trim() !== here[1]) parts.push(lines[index] ?? '');
      else {
        for (let depth = depthOf(start); depth > 0 && index + 1 < lines.length; ) {
          const next = withoutComment((lines[++index] ?? '').slice(0, MAX_LINE));
          parts.push(next);
          depth += depthOf(next);
        }
      }
      const value = parts.join('\n');
      inside.attributes.push({ name, value, line: number });
      continue;
    }
    const begun = /^\s*([\w-]+)((?:\s+"[^"]*")*)\s*\{\s*(.*)$/.exec(line);
    if (begun) {
      const [, type = '', labels = '', rest = ''] = begun;
      const block: Block = {
        type,
        labels: [...labels.matchAll(/"([^"]*)"/g)].map(([, label = '']) => label),
        line: number,
        attributes: [],
        blocks: [],
      };
      inside.blocks.push(block);
      if (!/\}\s*$/.test(rest)) open.push(block);
      else {
        const only = /^([\w-]+)\s*=\s*(.*?)\s*\}\s*$/.exec(rest);
        if (only) block.attributes.push({ name: only[1] ?? '', value: only[2] ?? '', line: number });
      }
    } else if (/^\s*\}/.test(line) && open.length > 1) open.pop();
  }
  return file;
}

/** Each block, from the outside in. */
export function* eachBlock(block: Block): Generator<Block> {
  yield block;
  for (const inner of block.blocks) yield* eachBlock(inner);
}

function withoutComment(line: string): string {
  return line.replace(/^((?:[^"#/]|"(?:[^"\\]|\\.)*"|\/(?!\/))*)(?:#|\/\/).*$/, '$1');
}

/** How many brackets a line opens more than it closes. */
function depthOf(value: string): number {
  const bare = value.replace(/"(?:[^"\\]|\\.)*"/g, '');
  return (bare.match(/[[{(]/g)?.length ?? 0) - (bare.match(/[\]})]/g)?.length ?? 0);
}
