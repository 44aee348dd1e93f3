import { randomBytes } from 'node:crypto';
import { type Place, pathOf } from '../../domain/skill/place.ts';
import { describeRenderFault } from '../../messages/skills/prompt.ts';
import { fenced } from '../templating/fence.ts';
import { MAX_RENDERED_BYTES, type Render, renderString, TOO_LONG } from '../templating/render.ts';
import type { PromptValues } from './values.ts';

export interface FillOptions {
  signal: AbortSignal;
  /** Without it, a process is started for this prompt alone. */
  render?: Render;
  /** Creates the code of the prompt's fences. */
  newCode?: () => string;
}

/**
 * Renders a package's prompt with untrusted values in fences. Returns the text, or a sentence that says why
 * there is none.
 * @throws the signal's reason if aborted
 */
export async function filledPrompt(
  template: Place & { content: string },
  { trusted, untrusted }: PromptValues,
  { signal, render = renderString, newCode = () => randomBytes(8).toString('hex') }: FillOptions,
): Promise<{ text: string } | { because: string }> {
  const { context, fill } = fenced(untrusted, newCode());
  const rendered = await render(template.content, { ...trusted, ...context }, { signal });
  if (!rendered.ok) return { because: describeRenderFault(pathOf(template), rendered.fault) };
  const text = fill(rendered.text, MAX_RENDERED_BYTES);
  return text === undefined ? { because: describeRenderFault(pathOf(template), TOO_LONG) } : { text };
}
