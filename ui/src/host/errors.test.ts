import { expect, test } from 'vitest';
import { errorLog } from './errors';

test('an error that nothing expected is logged with its place, and not without end', async () => {
  const reported: string[] = [];
  const report = errorLog({ reportError: async (error) => void reported.push(error) });
  report(new Error('No such row'));
  window.dispatchEvent(new ErrorEvent('error', { message: 'Script error' }));
  const delayed = 'ResizeObserver loop completed with undelivered notifications.';
  window.dispatchEvent(new ErrorEvent('error', { message: delayed }));
  report({ code: 'storage', message: 'The disk is gone' });
  expect(reported[0]).toContain('No such row');
  expect(reported[0]).toContain('errors.test');
  expect(reported.slice(1)).toEqual(['Script error', 'The disk is gone']);
  for (let again = 0; again < 1000; again += 1) report(new Error('Again'));
  expect(reported).toHaveLength(50);
});
