import { nearest } from '../../core/diagnostic.ts';
import type { Saying } from '../../domain/policy/approval.ts';
import { code } from '../../messages/text/markdown.ts';
import { type Command, VERBS, type Verb } from './command.ts';
import { MAX_COMMENT_LENGTH, mightSpeak, spokenLines } from './spoken-lines.ts';

/** The most commands that are executed from one comment. */
export const MAX_COMMANDS = 5;

/** A command, or a sentence (Markdown) that says why it is invalid. */
export type Parsed = { ok: Command } | { error: string };

/**
 * The commands of a new comment, in order: `/countersign <verb> …` at the start of a line of a plain
 * paragraph. Never throws, whatever the comment holds.
 */
export function parseCommands(markdown: string): Parsed[] {
  if (!mightSpeak(markdown)) return [];
  if (markdown.length > MAX_COMMENT_LENGTH) {
    return [
      {
        error: `A comment with a command may have ${MAX_COMMENT_LENGTH.toLocaleString('en')} characters at most; send the command in one of its own.`,
      },
    ];
  }
  const lines = spokenLines(markdown);
  const parsed: Parsed[] = lines.slice(0, MAX_COMMANDS).map(parseLine);
  if (lines.length > MAX_COMMANDS) {
    parsed.push({ error: `Only the first ${MAX_COMMANDS} commands of a comment are executed.` });
  }
  return parsed;
}

/** All whitespace except plain spaces and tabs, and all invisible characters. */
const UNSEEN = /(?![ \t])[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const CURLY_QUOTE = /[“”„‘’‚«»]/u;
const NAME = /^[a-z0-9][a-z0-9_.-]{0,99}$/i;
const KEY = /^[a-z][a-z0-9_-]{0,63}$/i;
const MAX_VALUE_LENGTH = 1_000;

function parseLine(line: string): Parsed {
  if (UNSEEN.test(line)) {
    return { error: 'The command holds an invisible character; type it again with plain spaces.' };
  }
  const replyFor = line.slice('/countersign'.length);
  if (replyFor !== '' && !/^[ \t]/.test(replyFor)) {
    return { error: `After ${code('/countersign')} there must be a space.` };
  }
  const [, word = '', rest = ''] = /^([^ \t]*)(.*)$/.exec(replyFor.trim()) ?? [];
  if (word === '') return { error: `Say what to do: ${code('/countersign help')} lists the commands.` };
  const verb = verbOf(word);
  return verb ? withArguments(verb, rest.trim()) : { error: unknownVerb(word) };
}

function verbOf(word: string): Verb | undefined {
  return VERBS.find((verb) => verb === word.toLowerCase());
}

function unknownVerb(word: string): string {
  const meant = nearest(word.slice(0, 40), VERBS);
  const hint = meant
    ? `did you mean ${code(`/countersign ${meant}`)}?`
    : `${code('/countersign help')} lists the commands.`;
  return `There is no command ${quoted(word)}; ${hint}`;
}

function withArguments(verb: Verb, rest: string): Parsed {
  switch (verb) {
    case 'rerun':
    case 'approve':
    case 'reject':
      return maybeStep(verb, rest);
    case 'fire':
      return fire(rest);
    case 'accept':
      return accept(rest);
    case 'withdraw':
      return withdraw(rest);
    case 'forget':
      return forget(rest);
    case 'ask':
      return ask(rest);
    case 'review':
      return review(rest);
    case 'help':
    case 'status':
    case 'why':
    case 'ci':
    case 'cancel':
    case 'pause':
    case 'resume':
      return rest === ''
        ? { ok: { verb } }
        : { error: `${code(`/countersign ${verb}`)} takes nothing after it, but got ${quoted(rest)}.` };
  }
}

/** The beginning of a finding's hash: as many letters as its name has, or all of them. */
const FINDING = /^[0-9a-f]{6,20}$/;
const MAX_REASON_LENGTH = 300;

/** A finding's name, with or without the code marks of the check run, and what follows it. */
function findingIn(rest: string): [finding: string, then: string] {
  const [, finding = '', then = ''] = /^`?([^ \t`]*)`?(.*)$/.exec(rest) ?? [];
  return [finding, then];
}

function accept(rest: string): Parsed {
  const [finding, then] = findingIn(rest);
  const example = code('/countersign accept 3f9a1c07 because the column is empty');
  if (finding === '') return { error: `Say which finding to accept and why, as in ${example}.` };
  const id = finding.toLowerCase();
  if (!FINDING.test(id)) return noFinding(finding, example);
  const reason = /^[ \t]+because[ \t:]+(.*)$/i.exec(then)?.[1]?.trim() ?? '';
  if (reason === '') return { error: `Say why the finding is all right, as in ${example}.` };
  if (reason.length > MAX_REASON_LENGTH)
    return { error: `The reason may have ${MAX_REASON_LENGTH} characters at most.` };
  return { ok: { verb: 'accept', finding: id, because: reason } };
}

function withdraw(rest: string): Parsed {
  const [finding, then] = findingIn(rest);
  const example = code('/countersign withdraw 3f9a1c07');
  if (finding === '') return { error: `Say which finding is not accepted any more, as in ${example}.` };
  const id = finding.toLowerCase();
  if (!FINDING.test(id)) return noFinding(finding, example);
  if (then.trim() !== '')
    return { error: `${example} takes nothing after the finding, but got ${quoted(then.trim())}.` };
  return { ok: { verb: 'withdraw', finding: id } };
}

const MAX_RULE_LENGTH = 200;

function forget(rest: string): Parsed {
  const rule = rest.replace(/^`(.*)`$/, '$1');
  if (rule === '')
    return { error: `Say which rule, as in ${code('/countersign forget sql-migrations/drop-column')}.` };
  if (rule.length > MAX_RULE_LENGTH)
    return { error: `The name of a rule has ${MAX_RULE_LENGTH} characters at most.` };
  return { ok: { verb: 'forget', rule } };
}

function noFinding(given: string, example: string): Parsed {
  return {
    error: `${quoted(given)} is no name of a finding: the check run shows each with its name, as in ${example}.`,
  };
}

function ask(question: string): Parsed {
  if (question === '') {
    return {
      error: `Say what you ask, as in ${code('/countersign ask are the names in this change good?')}.`,
    };
  }
  if (question.length > MAX_VALUE_LENGTH) {
    return { error: `A question may have ${MAX_VALUE_LENGTH.toLocaleString('en')} characters at most.` };
  }
  return { ok: { verb: 'ask', question } };
}

function review(rest: string): Parsed {
  const path = rest.replace(/^`(.*)`$/, '$1');
  if (path === '') return { ok: { verb: 'review' } };
  if (path.length > MAX_VALUE_LENGTH) {
    return { error: `A path may have ${MAX_VALUE_LENGTH.toLocaleString('en')} characters at most.` };
  }
  return { ok: { verb: 'review', path } };
}

function maybeStep(verb: 'rerun' | Saying, rest: string): Parsed {
  if (rest === '') return { ok: { verb } };
  if (NAME.test(rest)) return { ok: { verb, step: rest } };
  return { error: `${code(`/countersign ${verb}`)} takes the id of one step, but got ${quoted(rest)}.` };
}

function fire(rest: string): Parsed {
  const [, chain = '', given = ''] = /^([^ \t]*)(.*)$/.exec(rest) ?? [];
  if (chain === '') {
    return {
      error: `Say which chain to fire, as in ${code('/countersign fire deploy environment=staging')}.`,
    };
  }
  if (!NAME.test(chain)) return { error: `${quoted(chain)} is no name of a chain.` };
  const inputs = inputsOf(given);
  return typeof inputs === 'string' ? { error: inputs } : { ok: { verb: 'fire', chain, inputs } };
}

/**
 * One `key=value`. The value is bare or in straight quotes, with a backslash before quotes and backslashes.
 */
const INPUT = /[ \t]*([^ \t=]+)=(?:"((?:[^"\\]|\\["\\])*)"|'((?:[^'\\]|\\['\\])*)'|([^ \t"']*))(?=[ \t]|$)/y;

/** The inputs, or a sentence about the first that is invalid. */
function inputsOf(given: string): Record<string, string> | string {
  if (CURLY_QUOTE.test(given)) return 'Use straight quotes around values, as in `note="two words"`.';
  const text = given.trimEnd();
  const inputs = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    INPUT.lastIndex = at;
    const match = INPUT.exec(text);
    if (!match) {
      return `Inputs are written ${code('key=value')} or ${code('key="two words"')}, but got ${quoted(text.slice(at).trim())}.`;
    }
    const [whole, key = '', double, single, bare = ''] = match;
    if (!KEY.test(key)) return `${quoted(key)} is no name of an input: letters, digits, \`_\` and \`-\` are.`;
    if (inputs.has(key)) return `The input ${quoted(key)} is given twice.`;
    const value = (double ?? single)?.replaceAll(/\\(.)/g, '$1') ?? bare;
    if (value.length > MAX_VALUE_LENGTH) {
      return `The input ${quoted(key)} is longer than ${MAX_VALUE_LENGTH.toLocaleString('en')} characters.`;
    }
    inputs.set(key, value);
    at += whole.length;
  }
  return Object.fromEntries(inputs);
}

/** The person's text, shortened, for a reply. */
function quoted(words: string): string {
  return code(words.length <= 60 ? words : `${words.slice(0, 59)}…`);
}
