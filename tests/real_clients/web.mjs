// The web UI in a headless Chromium: a prompt is typed and its answer is read.
// Arguments: the folder of the driver and the browser, the address, the project's folder, and
// where to write a picture.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, url, directory, picture] = process.argv.slice(2);
const find = createRequire(path.join(modules, 'package.json'));
const { default: puppeteer } = await import(pathToFileURL(find.resolve('puppeteer-core')));

const { default: chromium } = await import(pathToFileURL(find.resolve('@sparticuz/chromium')));
const browser = await puppeteer.launch({ executablePath: await chromium.executablePath(), headless: 'shell', args: chromium.args });
const page = await browser.newPage();
await page.setViewport({ width: 1200, height: 800 });
const encoded = Buffer.from(directory).toString('base64url');
try {
  await page.goto(`${url}/${encoded}/session`, { waitUntil: 'domcontentloaded', timeout: 20000 });
  const box = await page.waitForSelector('[contenteditable="true"], textarea', { timeout: 30000 });
  await box.click();
  await page.keyboard.type('Say hello');
  // The page may not take the prompt before it has loaded the models.
  while (!page.url().includes('/session/ses_')) {
    await page.keyboard.press('Enter');
    await new Promise(resolve => setTimeout(resolve, 500));
  }
  await page.waitForFunction(() => document.body.innerText.includes('Hello from the model.'), { timeout: 30000 });
  console.log('1 passed, 0 failed');
} catch (e) { console.log('FAILED', e.message, await page.evaluate(() => document.body.innerText.slice(0, 800))); process.exitCode = 1; }
await page.screenshot({ path: picture });
await browser.close();
