// SPDX-License-Identifier: Apache-2.0
#include "tool/ParseInputs.h"

#include "tool/Paths.h"
#include "tool/ResourceFolder.h"
#include "tool/WorkerPool.h"

namespace tensorscope {

llvm::Expected<ParseInputs> findInputs(llvm::StringRef Build,
                                       llvm::StringRef StartPath,
                                       llvm::ArrayRef<std::string> Paths) {
  llvm::Expected<CompileDatabase> Database =
      CompileDatabase::load(Build, StartPath);
  if (!Database)
    return Database.takeError();
  auto Commands = Database->select(Paths);
  if (!Commands)
    return Commands.takeError();
  llvm::Expected<std::string> ResourceFolder = findResourceFolder();
  if (!ResourceFolder)
    return ResourceFolder.takeError();
  return ParseInputs{std::move(*Database), std::move(*Commands),
                     std::move(*ResourceFolder)};
}

llvm::Expected<unsigned> readJobCount(llvm::StringRef Jobs) {
  unsigned JobCount = defaultJobs();
  if (!Jobs.empty() && (Jobs.getAsInteger(10, JobCount) || JobCount == 0))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "--jobs takes a number from 1, not '" + Jobs +
                                       "'");
  return JobCount;
}

llvm::Expected<Config> readSettings(llvm::StringRef Path,
                                    llvm::StringRef StartPath,
                                    ModelSet &Models) {
  std::string File = Path.str();
  if (File.empty())
    File = findUpward(StartPath, {Config::FileName}).value_or("");
  if (File.empty())
    return Config();
  llvm::Expected<Config> Settings = Config::load(File);
  if (!Settings)
    return Settings.takeError();
  for (const ModelText &Text : Settings->Models)
    if (llvm::Error Failure = Models.add(Text.Yaml, Text.FileName))
      return Failure;
  return Settings;
}

} // namespace tensorscope
