-- Reads a JSON list of Markdown texts; prints the HTML of each, in pandoc's Markdown and as GFM.
local texts = pandoc.json.decode(io.read("a"), false)
local plain = pandoc.WriterOptions{highlight_method = "none"}
local pages = {}
for _, format in ipairs({"markdown", "gfm"}) do
  local found = pandoc.List()
  for _, text in ipairs(texts) do
    found:insert(pandoc.write(pandoc.read(text, format), "html", plain))
  end
  pages["pandoc " .. format] = found
end
io.write(pandoc.json.encode(pages))
