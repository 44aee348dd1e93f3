import { isIP } from 'node:net';
import { z } from 'zod';
import { isPrivateAddress } from '../../core/private-address.ts';
import { listOrOne } from '../../domain/chain/shape.ts';
import { chatText, cut, lineOf } from '../../messages/text/chat-text.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import { keyOf, plainAction } from './action.ts';
import { invalidInput, subjectInput, text } from './inputs.ts';

/** In letters: what a person reads in a chat. Slack cuts messages at 40,000. */
const MAX_TEXT = 3_000;
const MAX_VALUE = 500;

/** Why a text is no name of a webhook. Most often it is an address, of which lint says whether it would ever work. */
function whyNoName(value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (!url) return 'a webhook is the name that the operator of the server gave it, such as team-chat';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isPrivate =
    (isIP(host) !== 0 && isPrivateAddress(host)) || /(^|\.)localhost\.?$|\.internal\.?$/.test(host);
  return isPrivate
    ? 'a webhook to a private address is refused, and "to" takes the name of a webhook, not its address'
    : '"to" takes the name of a webhook, not its address, which is a secret; the operator of the server names it with COUNTERSIGN_WEBHOOK_<NAME>';
}

export const notify = plainAction({
  name: 'notify',
  about:
    'Posts a message to [webhooks](webhooks.md) that the operator of the server has named: chats, or signed ones.',
  permissions: [],
  input: z.strictObject({
    ...subjectInput,
    to: listOrOne(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, { error: ({ input }) => whyNoName(input) }), {
      most: 5,
    }).describe('The names of one to five webhooks, such as `team-chat`.'),
    text: text(
      'The message, in Slack’s format, cut to 3,000 characters. Values of expressions appear as plain text on one line, cut to 500.',
    ),
  }),
  once: 'one message for each run, step, webhook and text; after an uncertain answer, it is posted again with the same id',
  plan(context, { to }) {
    const { run } = context.state;
    const cannot = (problem: string) => invalidInput('notify', problem);
    const names = [...new Set(to)];
    const unknown = names.filter((name) => !context.hasWebhook(name));
    if (unknown.length > 0)
      return cannot(
        `the operator of this server has set no webhook ${unknown.join(', ')} (docs/webhooks.md says how)`,
      );
    const render = (encode: (value: string, max: number) => string) =>
      cut(context.text('text', (value) => encode(value, MAX_VALUE))?.trim() ?? '', MAX_TEXT);
    const message = render(chatText);
    if (message === '') return cannot('"text" is empty');
    const data = {
      text: render(lineOf),
      repository: run.repository,
      pull_request: run.pullRequest,
      commit: run.headSha === '' ? null : run.headSha,
      chain: run.chain,
      step: context.step.id,
      run: run.id,
    };
    return {
      kind: 'does',
      summary: `sent a message to ${names.join(', ')}`,
      details: { webhooks: names },
      effects: names.map((webhook) => ({
        key: `${keyOf('notify', context)}:${webhook}`,
        effect: { kind: 'webhook', ...placeOfEffect(run), webhook, text: message, data },
      })),
    };
  },
});
