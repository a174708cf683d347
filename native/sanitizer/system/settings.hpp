// The environment variable FENCEPOST_OPTIONS="name=value:name=value", as text. What the settings mean is said
// in options.hpp.
#pragma once

#include <cstddef>
#include <string_view>

namespace fencepost {

inline constexpr std::string_view settings_variable = "FENCEPOST_OPTIONS=";

struct SettingText {
    std::string_view name, value;
};

inline SettingText split(std::string_view setting) {
    std::size_t const equals = setting.find('=');
    std::size_t const end = equals < setting.size() ? equals : setting.size();
    std::size_t const rest = equals < setting.size() ? equals + 1 : setting.size();
    return {{setting.data(), end}, {setting.data() + rest, setting.size() - rest}};
}

// Calls action(SettingText) for each, in their order.
template <class Action>
void for_settings(char** environment, Action action) {
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        std::string_view text(*environment);
        if (!text.starts_with(settings_variable)) continue;
        text.remove_prefix(settings_variable.size());
        while (!text.empty()) {
            std::size_t const colon = text.find(':');
            std::string_view const setting(text.data(), colon < text.size() ? colon : text.size());
            if (!setting.empty()) action(split(setting));
            text.remove_prefix(setting.size() < text.size() ? setting.size() + 1 : setting.size());
        }
    }
}

}  // namespace fencepost
