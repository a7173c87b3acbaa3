import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import org.apache.axis.AxisFault;
import org.apache.axis.client.Call;
import org.apache.axis.client.Service;
import org.apache.axis.message.SOAPBodyElement;

/** A client on Axis 1.4, as Genesis II had it: prints a line for each thing that works, and fails at the first that does not. */
public final class AxisClient {
    private static Call call(String url, String operation) throws Exception {
        Call call = (Call) new Service().createCall();
        call.setTargetEndpointAddress(new URL(url));
        call.setUseSOAPAction(true);
        call.setSOAPActionURI(Part.RANDOM + "/" + operation);
        return call;
    }

    private static byte[] read(String url, String mechanism, long offset, int size) throws Exception {
        Call call = call(url, "read");
        SOAPBodyElement body = Part.element("read", mechanism, "start-offset", "" + offset, "bytes-per-block", "" + size, "num-blocks", "1", "stride", "0");
        call.invoke(new Object[] {body});
        return Part.only(call.getResponseMessage());
    }

    private static void expect(String name, boolean right) {
        if (!right) {
            throw new IllegalStateException(name);
        }
        System.out.println("ok " + name);
    }

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        byte[] content = Files.readAllBytes(Paths.get(arguments[1]));
        int end = content.length;
        for (String mechanism : new String[] {"mtom", "dime"}) {
            expect("read " + mechanism, Arrays.equals(read(url, mechanism, 10, 1000), Arrays.copyOfRange(content, 10, 1010)));
            expect("large read " + mechanism, Arrays.equals(read(url, mechanism, 0, end), content));
            expect("short read " + mechanism, Arrays.equals(read(url, mechanism, end - 5, 100), Arrays.copyOfRange(content, end - 5, end)));
            String fresh = url + "-axis-" + mechanism;
            Call write = call(fresh, "write");
            String format = mechanism.equals("dime") ? Call.ATTACHMENT_ENCAPSULATION_FORMAT_DIME : Call.ATTACHMENT_ENCAPSULATION_FORMAT_MTOM;
            write.setProperty(Call.ATTACHMENT_ENCAPSULATION_FORMAT, format);
            // Axis cuts DIME records at 1 MiB and leaves the further heads out of Content-Length: more breaks off.
            byte[] part = mechanism.equals("dime") ? Arrays.copyOf(content, 1 << 20) : content;
            write.addAttachmentPart(Part.of(part));
            write.invoke(new Object[] {Part.element("write", mechanism, "start-offset", "0", "bytes-per-block", "" + part.length, "stride", "0")});
            expect("lone part written by " + mechanism, Arrays.equals(read(fresh, mechanism, 0, part.length), part));
        }
        try {
            read(url + "-none", "mtom", 0, 1);
            expect("fault", false);
        } catch (AxisFault fault) {
            expect("fault", fault.getFaultDetails().length > 0 && fault.getFaultDetails()[0].getLocalName().equals("ResourceUnknownFault"));
        }
        System.out.println("all ok");
        System.exit(0);
    }
}
