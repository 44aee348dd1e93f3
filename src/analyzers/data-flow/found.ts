/** A weakness at a place of a file. Lines count from 1. */
export interface Weakness {
  rule: DataFlowRule;
  line: number;
  endLine: number;
  /** How the value gets there, as the end of a sentence. */
  way: string;
  /** The other lines on its way. */
  alsoAt: readonly number[];
}

export type DataFlowRule =
  | 'prototype-pollution'
  | 'command-injection'
  | 'code-injection'
  | 'path-traversal'
  | 'archive-traversal'
  | 'cross-site-scripting'
  | 'request-forgery'
  | 'open-redirect'
  | 'nosql-injection'
  | 'regexp-injection'
  | 'exponential-regexp'
  | 'slow-regexp'
  | 'not-analysed';
