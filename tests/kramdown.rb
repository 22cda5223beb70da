# Reads a JSON list of Markdown texts; prints the HTML of each, as GitHub Pages do.
require "json"
require "kramdown"
require "kramdown-parser-gfm"

texts = JSON.parse($stdin.read)
options = {input: "GFM", auto_ids: false, syntax_highlighter: nil, math_engine: nil}
pages = texts.map { |text| Kramdown::Document.new(text, **options).to_html }
$stdout.write(JSON.generate("kramdown" => pages))
