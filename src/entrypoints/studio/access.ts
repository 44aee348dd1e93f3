import type { Context } from 'hono';
import { Visible } from '../../ports/visible.ts';
import type { Viewer } from './viewer.ts';

/** Knows who sends a request and what that person may see. */
export interface Access {
  /** Whether people can sign in at all. */
  canSignIn: boolean;
  viewer(context: Context): Promise<Viewer>;
  /** Asks GitHub, or remembers for some minutes what it said. */
  visible(viewer: Viewer): Promise<Visible>;
}

/** Without sign-in, nobody sees anything. */
export const CLOSED: Access = {
  canSignIn: false,
  viewer: async () => ({ kind: 'nobody' }),
  visible: async () => Visible.only([]),
};
