import type { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import type { OutcomeKind } from '../outcome/outcome.ts';

/** The skills and actions that a chain can use. */
export interface KnownNames {
  skills: readonly string[];
  actions: readonly string[];
  /** The `with:` of each action and built-in skill. A function, because names are compared as JSON. */
  inputOf?: (uses: { kind: 'action' | 'skill'; name: string }) => z.ZodObject | undefined;
  /** The skills that a gate can use: the built-in ones. All skills if left out. */
  builtIn?: readonly string[];
  /** Skills that only describe something. A step that names one would fail when it runs. */
  withoutOutcome?: readonly string[];
  /** The kind of outcome that each skill states, by its name. A skill that is missing here can state any. */
  outcomes?: Readonly<Record<string, OutcomeKind>>;
  /** For skills that state a kind of their own: the JSON Schema of its data, by the skill's name. */
  outcomeData?: Readonly<Record<string, { [key: string]: Json }>>;
  /** Skills whose packages have diagnostics. */
  broken?: readonly string[];
}
