/** Who may countersign, how many are needed and how they say it; from the repository's settings. */
export interface CountersignRules {
  permission: 'admin' | 'maintain' | 'write' | 'none';
  teams: readonly string[];
  users: readonly string[];
  /** What named people and teams need, too; `write` when absent. */
  least?: 'admin' | 'maintain' | 'write';
  count: number;
  /** What commits are taken for that nobody can be credited with; settings of before there was this have none. */
  unattributed?: 'one_more' | 'allow' | 'refuse';
  approve: readonly string[];
  reject: readonly string[];
}
