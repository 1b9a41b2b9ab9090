#include "core/config/flags.h"

#include <set>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/config/json_text.h"

namespace slipway {
namespace {

using nlohmann::json;

std::string where_of(const FlagArgument& flag) { return "command line: " + flag.spelled; }

void refuse_following(const FlagArgument& flag, std::size_t consumed) {
  if (flag.following.size() <= consumed) return;
  throw ConfigError("command line: " + in_quotes(flag.following[consumed]) + " after " + flag.spelled +
                    " belongs to no flag; lists are comma separated, and a flag begins with --");
}

std::string kebab(const std::string& name) { return "--" + replace_char(name, '_', '-'); }

json bool_value(const FlagArgument& flag, const OptionSpec& option) {
  if (flag.inline_value) {
    refuse_following(flag, 0);
    return value_of_text(option, *flag.inline_value, where_of(flag));
  }
  if (flag.following.empty()) return true;
  refuse_following(flag, 1);
  return value_of_text(option, flag.following[0], where_of(flag));
}

void refuse_value(const FlagArgument& flag) {
  if (flag.inline_value) {
    throw ConfigError(where_of(flag) + " takes no value, but " + in_quotes(*flag.inline_value) + " is given");
  }
  refuse_following(flag, 0);
}

}  // namespace

std::vector<FlagArgument> split_flags(const std::vector<std::string>& arguments) {
  std::vector<FlagArgument> flags;
  for (const std::string& argument : arguments) {
    if (argument.rfind("--", 0) != 0) {
      if (flags.empty()) {
        throw ConfigError("command line: unexpected argument " + in_quotes(argument) + "; a flag begins with --");
      }
      flags.back().following.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    FlagArgument flag;
    flag.spelled = argument.substr(0, equals);
    flag.name = replace_char(flag.spelled.substr(2), '-', '_');
    if (flag.name.empty())
      throw ConfigError("command line: " + in_quotes(argument) + " is not a flag; write --name value");
    if (equals != std::string::npos) flag.inline_value = argument.substr(equals + 1);
    flags.push_back(std::move(flag));
  }
  return flags;
}

std::string single_value(const FlagArgument& flag) {
  if (flag.inline_value) {
    refuse_following(flag, 0);
    return *flag.inline_value;
  }
  if (flag.following.empty()) throw ConfigError(where_of(flag) + " needs a value");
  refuse_following(flag, 1);
  return flag.following[0];
}

void FlagTable::add(Index& index, const std::string& prefix, const std::string& section,
                    const std::vector<OptionSpec>& options) {
  for (const OptionSpec& option : options) {
    index[prefix + option.name].push_back({section, option, std::nullopt});
    for (const std::string& text : option.aliases) {
      const OptionAlias alias = parse_alias(text);
      const auto fixed = alias.sets_value ? std::optional(alias.value) : std::nullopt;
      index[prefix + alias.name].push_back({section, option, fixed});
    }
  }
}

void FlagTable::add_core(const std::string& section, const std::vector<OptionSpec>& options, bool dotted) {
  add(core_, "", section, options);
  if (dotted) add(dotted_, section + ".", section, options);
}

void FlagTable::add_provider(const std::string& section, const std::vector<OptionSpec>& options) {
  add(providers_, "", section, options);
  add(dotted_, section + ".", section, options);
}

const FlagTable::Targets* FlagTable::find(const std::string& name) const {
  for (const Index* index : {&dotted_, &core_, &providers_}) {
    const auto found = index->find(name);
    if (found == index->end()) continue;
    std::set<std::string> sections;
    for (const Target& target : found->second) sections.insert(target.section);
    if (sections.size() == 1) return &found->second;
    std::vector<std::string> candidates;
    for (const std::string& section : sections) candidates.push_back(kebab(section + "." + name));
    throw ConfigError("command line: " + kebab(name) + " could be any of " + join(candidates, ", ") +
                      "; write one of these");
  }
  return nullptr;
}

std::vector<Assignment> FlagTable::assign_one(const FlagArgument& flag) const {
  std::vector<Assignment> assignments;
  if (const Targets* targets = find(flag.name)) {
    for (const Target& target : *targets) {
      json value;
      if (target.fixed_value) {
        refuse_value(flag);
        value = value_of_text(target.option, *target.fixed_value, where_of(flag));
      } else if (target.option.type == OptionType::kBool) {
        value = bool_value(flag, target.option);
      } else {
        value = value_of_text(target.option, single_value(flag), where_of(flag));
      }
      assignments.push_back({target.section, target.option.name, std::move(value), flag.spelled});
    }
    return assignments;
  }
  const std::size_t dot = flag.name.rfind('.');
  const std::size_t begin = dot == std::string::npos ? 0 : dot + 1;
  if (flag.name.compare(begin, 3, "no_") != 0) refuse_unknown(flag);
  const Targets* targets = find(flag.name.substr(0, begin) + flag.name.substr(begin + 3));
  const bool negates = targets && targets->size() == 1 && !targets->front().fixed_value &&
                       targets->front().option.type == OptionType::kBool;
  if (!negates) refuse_unknown(flag);
  refuse_value(flag);
  assignments.push_back({targets->front().section, targets->front().option.name, false, flag.spelled});
  return assignments;
}

void FlagTable::refuse_unknown(const FlagArgument& flag) const {
  std::vector<std::string> names = known_;
  for (const Index* index : {&core_, &providers_, &dotted_}) {
    for (const auto& entry : *index) names.push_back(entry.first);
  }
  const std::string nearest = nearest_name(flag.name, names);
  const std::string help =
      nearest.empty() ? "; `slipway help` lists the flags" : "; did you mean " + kebab(nearest) + "?";
  throw ConfigError("command line: unknown flag " + flag.spelled + help);
}

std::vector<Assignment> FlagTable::assign(const std::vector<FlagArgument>& flags) const {
  std::vector<Assignment> all;
  std::map<std::string, Assignment> given;
  for (const FlagArgument& flag : flags) {
    for (Assignment& assignment : assign_one(flag)) {
      const std::string key = assignment.section + "." + assignment.option;
      const auto [earlier, is_first] = given.emplace(key, assignment);
      if (!is_first && earlier->second.value != assignment.value) {
        throw ConfigError("command line: " + earlier->second.spelled + " sets " + key + " to " +
                          earlier->second.value.dump() + " and " + assignment.spelled + " sets it to " +
                          assignment.value.dump() + "; give one of them");
      }
      if (is_first) all.push_back(std::move(assignment));
    }
  }
  return all;
}

}  // namespace slipway
