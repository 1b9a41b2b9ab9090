// A TCP port for the ranks of one machine to meet at.
#pragma once

namespace slipway {

// A port that was free on 127.0.0.1 a moment ago. Throws Error (usage) when there is none.
int free_port();

}  // namespace slipway
