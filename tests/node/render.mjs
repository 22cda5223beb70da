// Reads a JSON list of Markdown texts; prints the HTML of each, by parser.
import {text} from 'node:stream/consumers';
import {marked} from 'marked';
import {marked as marked4} from 'marked4';
import {marked as marked15} from 'marked15';
import MarkdownIt from 'markdown-it';
import rehypeStringify from 'rehype-stringify';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import {unified} from 'unified';

const remark = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, {allowDangerousHtml: true})
  .use(rehypeStringify, {allowDangerousHtml: true});
const markdownIt = new MarkdownIt({html: true, linkify: true});
const parsers = {
  'marked 18': markdown => marked.parse(markdown),
  'marked 15': markdown => marked15.parse(markdown),
  'marked 4': markdown => marked4.parse(markdown, {mangle: false, headerIds: false}),
  'remark-gfm': markdown => String(remark.processSync(markdown)),
  'markdown-it': markdown => markdownIt.render(markdown),
};
const texts = JSON.parse(await text(process.stdin));
const pages = Object.entries(parsers).map(([name, parse]) => [name, texts.map(parse)]);
process.stdout.write(JSON.stringify(Object.fromEntries(pages)));
