# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=<file.cpp> -DHEADER=<include> -DNAMESPACE=<namespace> -DFILES=<file>|<file>... -P EmbedFiles.cmake
# Writes a source in which each file is a std::string_view: report.css becomes report_css.
string(REPLACE "|" ";" files "${FILES}")
set(text "// Made of the files themselves; see EmbedFiles.cmake.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  string(MAKE_C_IDENTIFIER "${name}" name)
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND text "static constexpr unsigned char ${name}_bytes[] = {${bytes}};\n"
    "const std::string_view ${name}(reinterpret_cast<const char*>(${name}_bytes), sizeof ${name}_bytes);\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}} // namespace ${NAMESPACE}\n")
