/** Who may countersign, how many are needed, and with which reactions; from the repository's settings. */
export interface CountersignRules {
  permission: 'admin' | 'maintain' | 'write' | 'none';
  teams: readonly string[];
  users: readonly string[];
  /** The role that named people and team members also need; `write` if absent. */
  least?: 'admin' | 'maintain' | 'write';
  count: number;
  /** The meaning of unattributed commits; absent in settings from before this key existed. */
  unattributed?: 'one_more' | 'allow' | 'refuse';
  approve: readonly string[];
  reject: readonly string[];
}
