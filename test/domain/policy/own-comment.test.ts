// @module-tag security

import { describe, expect, it } from 'vitest';
import { isOwnComment } from '../../../src/domain/policy/own-comment.ts';

const APP = 7;
const BOT = 70;
const bot = { id: BOT, type: 'Bot' };
const own = { appId: APP, accountId: BOT };

describe('a comment is this app’s own', () => {
  it.each([
    ['GitHub names the app and the account', { author: bot, viaAppId: APP }, own],
    ['GitHub names the account and no app', { author: bot, viaAppId: null }, own],
    [
      'GitHub names the app, and no account was recorded',
      { author: bot, viaAppId: APP },
      { ...own, accountId: undefined },
    ],
  ])('when %s', (_, comment, known) => {
    expect(isOwnComment(comment, known)).toBe(true);
  });
});

describe('a comment is not this app’s own', () => {
  it.each([
    ['a person wrote it', { author: { id: 1, type: 'User' }, viaAppId: null }, own],
    ['a person wrote it through this app', { author: { id: 1, type: 'User' }, viaAppId: APP }, own],
    ['a person has the recorded account', { author: { ...bot, type: 'User' }, viaAppId: null }, own],
    ['another app wrote it', { author: { ...bot, id: 80 }, viaAppId: 8 }, own],
    ['another bot wrote it, and GitHub names no app', { author: { ...bot, id: 80 }, viaAppId: null }, own],
    ['the account is right and the app is another', { author: bot, viaAppId: 8 }, own],
    ['the app is right and the account is another', { author: { ...bot, id: 80 }, viaAppId: APP }, own],
    [
      'GitHub names no app, and no account was recorded',
      { author: bot, viaAppId: null },
      { ...own, accountId: undefined },
    ],
    ['its author was deleted', { author: { id: 0, type: 'Mannequin' }, viaAppId: null }, own],
  ])('when %s', (_, comment, known) => {
    expect(isOwnComment(comment, known)).toBe(false);
  });
});
