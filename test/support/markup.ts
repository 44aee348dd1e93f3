/**
 * Reads markup by a grammar that is narrower than HTML's: what a template wrote by itself fits, and what a value added does not.
 * A browser repairs broken markup, so a parser like its own would hide faults.
 */

export interface Markup {
  elements: {
    /** With the names of its attributes, as `a[class,href]`. */
    shape: string;
    /** Values of its attributes that hold addresses. */
    addresses: string[];
  }[];
  /** What fits no rule, with what is around it. */
  faults: string[];
  /** Characters that nobody sees, which could hide or reorder what is around them. */
  unseen: string[];
}

const UNSEEN = /[^\n\t\P{C}]/gu;

const TAG = /^<(\/?)([a-z][a-z0-9]*)((?:[ \n][a-z][a-z0-9:-]*(?:="[^"<>]*")?)*) ?\/?>/i;
const ATTRIBUTE = /[ \n]([a-z][a-z0-9:-]*)(?:="([^"]*)")?/gi;
const ADDRESSES = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'hx-sse:connect',
  'data',
  'poster',
  'srcset',
]);
const VOID = new Set(['br', 'hr', 'img', 'input', 'link', 'meta']);

export function readMarkup(page: string): Markup {
  const markup: Markup = { elements: [], faults: [], unseen: [] };
  // What a form sends back must stay as it is.
  const shown = page.replaceAll(/ value="[^"]*"/g, '');
  for (const { 0: character, index } of shown.matchAll(UNSEEN))
    markup.unseen.push(
      `U+${character.codePointAt(0)?.toString(16)} after ${JSON.stringify(shown.slice(Math.max(0, index - 80), index))}`,
    );
  const open: string[] = [];
  const fault = (what: string, at: number) =>
    markup.faults.push(`${what}: ${JSON.stringify(page.slice(Math.max(0, at - 60), at + 100))}`);
  let at = /^\s*<!doctype html>/.exec(page)?.[0].length ?? 0;
  while (at < page.length && markup.faults.length < 5) {
    const next = page.slice(at).search(/[<>]/);
    if (next < 0) break;
    at += next;
    const [tag, slash, name = '', attributes = ''] = TAG.exec(page.slice(at)) ?? [];
    if (tag === undefined) {
      fault('no tag', at);
      at += 1;
      continue;
    }
    const given = [...attributes.matchAll(ATTRIBUTE)];
    if (slash === '/') {
      if (open.pop() !== name) fault(`</${name}> ends nothing`, at);
    } else if (!VOID.has(name) && !tag.endsWith('/>')) open.push(name);
    if (slash !== '/')
      markup.elements.push({
        shape: `${name}[${given
          .map(([, attribute = '']) => attribute)
          .sort()
          .join()}]`,
        addresses: given.flatMap(([, attribute = '', value = '']) =>
          ADDRESSES.has(attribute) ? decoded(value) : [],
        ),
      });
    at += tag.length;
  }
  if (open.length > 0) fault(`<${open.at(-1)}> has no end`, page.length);
  return markup;
}

/** Text as a browser reads it. */
function decoded(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (all, code?: string, name = '') =>
    code === undefined ? (named[name] ?? all) : String.fromCodePoint(Number(code)),
  );
}
