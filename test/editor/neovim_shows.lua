-- SPDX-License-Identifier: Apache-2.0
-- Run inside Neovim by neovim_test.py: starts the server for the file that is open, waits for diagnostics, and writes
-- them, with the texts that Neovim shows beside lines, to the file that TENSORSCOPE_SHOWN names.
local patience_ms = 300000

local client = vim.lsp.start_client({
  name = "tensorscope-clangd",
  cmd = { vim.env.TENSORSCOPE_CLANGD, "--background-index=false" },
  root_dir = vim.fn.getcwd(),
})
vim.lsp.buf_attach_client(0, client)
vim.wait(patience_ms, function() return #vim.diagnostic.get(0) > 0 end, 100)

local shown = { diagnostics = {}, texts = {} }
for _, found in ipairs(vim.diagnostic.get(0)) do
  local code = found.code or vim.tbl_get(found, "user_data", "lsp", "code")
  table.insert(shown.diagnostics, { line = found.lnum + 1, code = code, source = found.source })
end
for _, namespace in pairs(vim.diagnostic.get_namespaces()) do
  local beside = namespace.user_data.virt_text_ns
  for _, mark in ipairs(beside and vim.api.nvim_buf_get_extmarks(0, beside, 0, -1, { details = true }) or {}) do
    local text = ""
    for _, part in ipairs(mark[4].virt_text or {}) do
      text = text .. part[1]
    end
    if text ~= "" then
      table.insert(shown.texts, { line = mark[2] + 1, text = text })
    end
  end
end

vim.fn.writefile({ vim.json.encode(shown) }, vim.env.TENSORSCOPE_SHOWN)
vim.lsp.stop_client(client)
vim.cmd("qall!")
