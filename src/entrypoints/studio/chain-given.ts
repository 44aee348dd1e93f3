import { redact } from '../../core/redact/redact.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import { type ChainInput, type ChainInputs, readValue } from '../../domain/chain/chain-inputs.ts';
import { askedInputs } from '../../domain/chain/fired-inputs.ts';
import { sourcesOfChain } from '../../domain/chain/trigger-schema.ts';
import type { Run } from '../../domain/run/run.ts';
import { type ChainFields, NO_SUBJECT, nothingThere, WRONG_INPUT } from '../../messages/studio/chain-form.ts';
import type { Given } from '../../messages/studio/field.ts';
import type { WrongSubject } from './subject.ts';

const MAX_SUBJECT = 300;
/** A comment with them would be refused, and a chain is fired by the same command. */
const CURLY_QUOTE = /[“”„‘’‚«»]/u;

/** A field of a form. A file counts as empty. */
export function textOf(field: unknown): string {
  return typeof field === 'string' ? field : '';
}

/** Whether people fire the chain by hand, besides or instead of what else starts it. */
export function firesByHand(chain: Pick<Chain, 'trigger'> | undefined): 'only' | 'too' | 'no' {
  const sources = chain ? sourcesOfChain(chain) : [];
  if (!sources.includes('manual.fired')) return 'no';
  return sources.every((source) => source === 'manual.fired') ? 'only' : 'too';
}

/** The form as a page first shows it. */
export function fieldsFor(chain: Chain | undefined, newest: Run | undefined): ChainFields {
  const on = !newest
    ? ''
    : newest.pullRequest === null
      ? newest.repository
      : `${newest.repository}#${newest.pullRequest}`;
  return { given: { on: { value: on }, inputs: {} }, ...offered(chain) };
}

/** @returns what somebody gave, and the texts of those inputs that are right */
export function givenFor(
  chain: Chain | undefined,
  sent: Readonly<Record<string, unknown>>,
): { fields: ChainFields; values: Record<string, string>; isWrong: boolean } {
  const { inputs, fires } = offered(chain);
  const values: Record<string, string> = {};
  const given: Record<string, Given> = {};
  for (const [name, input] of Object.entries(inputs)) {
    const value = textOf(sent[`input.${name}`]);
    const wrong = wrongWith(input, value);
    given[name] = { value: wrong === WRONG_INPUT.secret ? '' : value, wrong };
    if (wrong === undefined && value !== '') values[name] = value;
  }
  const on = { value: textOf(sent.on).slice(0, MAX_SUBJECT) };
  const isWrong = Object.values(given).some(({ wrong }) => wrong !== undefined);
  return { fields: { given: { on, inputs: given }, inputs, fires }, values, isWrong };
}

function offered(chain: Chain | undefined): { inputs: ChainInputs; fires: boolean } {
  const fires = firesByHand(chain) !== 'no';
  return { inputs: chain && fires ? askedInputs(chain) : {}, fires };
}

/** The form with what is wrong with its subject. */
export function withWrong(fields: ChainFields, wrong: string): ChainFields {
  const { on, inputs } = fields.given;
  return { ...fields, given: { inputs, on: { ...on, wrong } } };
}

export function wrongSubject(subject: WrongSubject): string {
  return subject.wrong === 'no_form' ? NO_SUBJECT : nothingThere(subject.repository);
}

/** An empty field counts as one that is left out. */
function wrongWith(input: ChainInput, value: string): string | undefined {
  if (value === '') return input.required && input.default === undefined ? WRONG_INPUT.missing : undefined;
  const read = readValue(input, value);
  if ('wanted' in read) return WRONG_INPUT.not(read.wanted);
  if (CURLY_QUOTE.test(value)) return WRONG_INPUT.quotes;
  return redact(value) === value ? undefined : WRONG_INPUT.secret;
}

/** The command as a comment would have it. Each value is one line, so no second command can follow. */
export function fireCommand(chain: string, values: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(values).map(
    ([name, value]) => ` ${name}="${value.replaceAll(/["\\]/g, (one) => `\\${one}`)}"`,
  );
  return `/countersign fire ${chain}${inputs.join('')}`;
}
