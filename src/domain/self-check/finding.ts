import type { RolloutSetting } from '../chain/rollout-setting.ts';
import type { GateProtection } from '../policy/gate-check.ts';
import type { RolloutLevel } from '../policy/rollout.ts';

/** What the app asks GitHub for, as `app.yml` says, or as GitHub granted it. */
export interface Grants {
  /** By name; `write` includes `read`. */
  permissions: Readonly<Record<string, string>>;
  events: readonly string[];
}

/** What somebody granted less than the app asks for. */
export interface Lacking {
  /** In words of GitHub's API, such as `checks: write`. */
  permissions: readonly string[];
  events: readonly string[];
}

/** What one check of the set-up found. Each has one meaning for the operator, and `messages/self-check` its words. */
export type Finding =
  | { check: 'settings'; kind: 'valid' }
  | { check: 'settings'; kind: 'invalid'; diagnostics: readonly string[] }
  | { check: 'settings'; kind: 'no_app' }
  | { check: 'app'; kind: 'signed_in'; name: string; owner: string; url: string }
  /** GitHub does not accept the key for this id. */
  | { check: 'app'; kind: 'key_refused'; appId: number; because: string }
  | { check: 'app'; kind: 'unreachable'; apiUrl: string; because: string }
  /** @property aheadMs by how much this machine's clock is ahead of GitHub's; negative if it is behind */
  | { check: 'clock'; kind: 'right' | 'off'; aheadMs: number }
  | { check: 'permissions'; kind: 'as_asked' }
  | { check: 'permissions'; kind: 'lacking'; lacking: Lacking; url: string }
  | { check: 'webhook'; kind: 'no_address' | 'no_secret' | 'not_json' }
  | { check: 'webhook'; kind: 'other_address'; url: string; expected: string }
  | { check: 'webhook'; kind: 'tls_unchecked'; url: string }
  | { check: 'webhook'; kind: 'never_sent' }
  | { check: 'webhook'; kind: 'answered'; at: Date; status: number }
  /** This app answers 401 if a webhook is not signed with its secret. */
  | { check: 'webhook'; kind: 'secret_differs'; at: Date }
  | { check: 'webhook'; kind: 'unreached'; at: Date; url: string | undefined }
  | { check: 'webhook'; kind: 'refused'; at: Date; status: number }
  | { check: 'installations'; kind: 'none'; url: string }
  | { check: 'installations'; kind: 'some'; owners: readonly string[] }
  | { check: 'installations'; kind: 'suspended'; owners: readonly string[] }
  /** Their owners have not accepted a permission or an event that the app asks for by now. */
  | { check: 'installations'; kind: 'lacking'; owners: readonly string[]; lacking: Lacking }
  | { check: 'protection'; kind: GateProtection; repository: string; branch: string }
  | { check: 'protection'; kind: 'unreadable'; repository: string; because: string }
  /** Beyond the first ones. @property repositories of installations that were looked at, @property installations that were not */
  | { check: 'protection'; kind: 'others'; repositories: number; installations: number }
  /** @property most that this server rolls out */
  | { check: 'rollout'; kind: 'set'; owner: string; setting: RolloutSetting | undefined; most: RolloutLevel }
  | { check: 'rollout'; kind: 'unreadable'; owner: string }
  | { check: 'database'; kind: 'works' }
  | { check: 'database'; kind: 'none' }
  /** It lacks migrations of this version. */
  | { check: 'database'; kind: 'older'; because: string }
  | { check: 'database'; kind: 'broken'; because: string }
  | { check: 'disk'; kind: 'enough' | 'low'; folder: string; freeBytes: number }
  /** @property warnings why work waits although webhooks are accepted */
  | { check: 'server'; kind: 'ready'; url: string; warnings: readonly string[] }
  | { check: 'server'; kind: 'not_ready'; url: string; because: string }
  | { check: 'server'; kind: 'not_running'; url: string }
  /** What answers there is another program, or this app hangs. */
  | { check: 'server'; kind: 'strange'; url: string; because: string }
  | { [Check in CheckName]: { check: Check; kind: 'not_known'; because: string } }[CheckName];

export const CHECK_NAMES = [
  'settings',
  'app',
  'clock',
  'permissions',
  'webhook',
  'installations',
  'protection',
  'rollout',
  'database',
  'disk',
  'server',
] as const;
export type CheckName = (typeof CHECK_NAMES)[number];
